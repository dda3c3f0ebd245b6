#compdef profrig
# zsh completion of profrig
_profrig() {
	local line name rest
	local -a found
	for line in "${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		'') ;;
		:files) rest=_files ;;
		:dirs) rest='_files -/' ;;
		*)
			name=${${line%%$'\t'*}//:/\\:}
			if [[ $line == *$'\t'* ]]; then
				found+=("$name:${line#*$'\t'}")
			else
				found+=("$name")
			fi ;;
		esac
	done
	(( ${#found} )) && _describe -V profrig found && return
	${=rest}
}
if [ "$funcstack[1]" = _profrig ]; then
	_profrig "$@"
else
	compdef _profrig profrig
fi
