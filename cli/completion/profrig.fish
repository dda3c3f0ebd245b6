# fish completion of profrig
function __profrig_complete
	set -l words (commandline -opc) (commandline -ct)
	for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
		switch $line
			case ':files'
				__fish_complete_path (commandline -ct)
			case ':dirs'
				__fish_complete_directories (commandline -ct)
			case '*'
				echo $line
		end
	end
end
complete -c profrig -f -a '(__profrig_complete)'
