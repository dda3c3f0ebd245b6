#!/usr/bin/env bash
# Sourced after lib.sh: what users rely on, as checks. run_contract RUN_DIR; table_contract ANALYSIS_DIR.

# Pinned columns, in order; a table may have more on the right.
declare -A PINNED=(
	[functions]=scope,name,category,calls,inclusive_ns,exclusive_ns,min_ns,mean_ns,median_ns,p95_ns,max_ns,stddev_ns,share
	[callpaths]=track,path,depth,calls,inclusive_ns,exclusive_ns,device_inclusive_ns,device_exclusive_ns
	[kernels]=device,name,class,calls,total_ns,min_ns,mean_ns,median_ns,max_ns,stddev_ns,share
	[busy]=device,spans,sum_ns,union_ns,wall_ns,busy,idle_ns,max_concurrency
	[overlap]=device,wall_ns,compute_ns,comm_ns,copy_ns,exposed_comm_ns,hidden_comm_ns,exposed_copy_ns,idle_ns
	[idle]=device,gap_ns_bucket,count,total_ns,host_cause
	[idle_causes]=device,cause,parts,total_ns,share
	[idle_gaps]=device,start_ns,dur_ns,cause,before,after,api
	[launch_latency]=device,linked,unlinked,min_ns,median_ns,p95_ns,max_ns,early
	[queue]=device,max,mean,area_ns,full_ns
	[operators]=name,shapes,types,calls,calls_with_work,works,own_ns,nested_ns,host_self_ns,flop,bytes,tflops,tbps,bound,pct_of_attainable
	[perf]=op,shapes,types,calls,flop,bytes,total_ns,tflops,tbps,intensity,precision,bound,pct_of_attainable,joules_per_tflop
	[counters]=series,device,kind,unit,scale,samples,distinct,first_ns,last_ns,first,last,min,max,mean,total,total_unit,max_gap_ns,median_period_ns,flags
	[collectives]=collective,dtype,count,bytes,ranks,instances,complete,dur_mean_ns,dur_min_ns,skew_mean_ns,algbw_gbps,busbw_gbps,busbw_median_gbps,slowest_rank
	[collective_instances]=group,seq,name,bytes,ranks,complete,start_ns,transfer_ns,skew_ns,first_rank,last_rank
	[collective_ranks]=rank,count,dur_ns,wait_ns,last_count,caused_wait_ns,wait_joules
	[iterations]=track,marker,index,start_ns,dur_ns,steady,works,sum_ns,union_ns,device_start_ns,device_span_ns
	[inference]=iteration,phase,requests,tokens,host_ns,device_ns,tokens_per_s,joules_per_token
	[kernel_classes]=device,class,calls,total_ns,union_ns,share,joules
	[ranks]=rank,compute_ns,exposed_comm_ns,idle_ns,iteration_median_ns,wait_ns,outlier
	[alignment]=group,track,offset_ns,drift_ppm,residual_std_ns,residual_max_ns,events,used
	[idle_power]=counter,device,level_w,before_w,after_w,drift_w,stderr_w,samples,duration_ns,method
	[energy]=counter,device,view,track,name,calls,inclusive_j,exclusive_j,exclusive_ns,mean_w,share,flags,uncertainty_j,static_j,dynamic_j,modelled_j,modelled_uncertainty_j,modelled_w,separable,best_j,best_uncertainty_j,estimate
	[energy_totals]=counter,device,view,total_j,attributed_j,unattributed_j,error_rel
	[energy_callpaths]=counter,device,view,track,path,depth,calls,inclusive_j,exclusive_j,exclusive_ns,flags,modelled_inclusive_j,modelled_j,best_inclusive_j,best_j,estimate
	[energy_calls]=counter,device,view,track,name,start_ns,duration_ns,inclusive_j,uncertainty_j,modelled_j,modelled_uncertainty_j,best_j,best_uncertainty_j,estimate
	[energy_fit]=counter,device,view,intervals,classes,explained,residual_w,rounds,lag1,used
)

table_contract() { # analysis folder, tables that must be there…
	local dir=$1 name f head
	shift
	check "analysis.json has its schema and parts" jq -e '.schema == "profrig.analysis/1" and (.inputs | type == "array") and (.warnings | type == "array")
		and (.tables | all(has("name") and has("file") and has("rows"))) and (.checks | all(has("name") and has("ok") and has("detail")))
		and (.skipped | all(has("name") and has("reason")))
		and (.timings_s | has("read") and has("model") and has("attribute") and has("stats") and has("write")) and has("origin_ns") and has("window")' "$dir/analysis.json"
	check "every input states path, format, reader, counts and partial" jq -e '.inputs | all(has("path") and has("format") and has("reader")
		and has("spans") and has("samples") and has("links") and has("tracks") and has("partial"))' "$dir/analysis.json"
	check "every check holds" jq -e '.checks | all(.ok)' "$dir/analysis.json"
	for name in "$@"; do
		check "table $name is there" test -s "$dir/tables/$name.csv"
	done
	for f in "$dir"/tables/*.csv; do
		name=$(basename "$f" .csv)
		head=$(head -n 1 "$f" | tr -d '\r')
		is "analysis.json counts the rows of $name" "$(jq --arg n "$name" '.tables[] | select(.name == $n) | .rows' "$dir/analysis.json")" \
			"$(jq --arg n "$name" '.tables[$n].data[0] | length' "$dir/report.json")"
		[ -n "${PINNED[$name]:-}" ] || continue
		case $head, in
		"${PINNED[$name]}",*) ok "table $name begins with its pinned columns" ;;
		*) not_ok "table $name begins with its pinned columns" "got:  $head
want: ${PINNED[$name]}" ;;
		esac
	done
	is "error_rel is at most 1e-9 everywhere" "$(jq '[.tables.energy_totals // {columns: [], data: []} | (.columns | map(.name) | index("error_rel")) as $i
		| if $i == null then empty else .data[$i][] end | select(. > 1e-9)] | length' "$dir/report.json")" 0
}

run_contract() { # run folder
	local dir=$1
	check "run.json has every field" jq -e '. as $r | ["schema", "id", "model", "started_utc", "ended_utc", "status", "reason", "phase", "exit_code", "signal",
		"durations_s", "engine", "image", "image_digest", "host", "devices", "versions", "git", "tools", "clocks", "idle", "steps", "artifacts", "metrics",
		"warnings"] | map(select(. as $k | $r | has($k) | not)) | if length > 0 then error("missing: " + join(" ")) else true end' "$dir/run.json"
	is "run.json names its schema" "$(field "$dir/run.json" .schema)" profrig.run/1
	check "the id is <UTC>-<model>-<6 hex>" jq -e '.id | test("^[0-9]{8}T[0-9]{6}Z-.+-[0-9a-f]{6}$")' "$dir/run.json"
	is "the directory is named by the id" "$(basename "$dir")" "$(field "$dir/run.json" .id)"
	check "durations" jq -e '.durations_s | has("build") and has("pre") and has("workload") and has("post") and has("idle") and has("analyze")' "$dir/run.json"
	check "steps" jq -e '.steps | all(has("name") and has("argv") and has("env_ref") and has("started_ns") and has("ended_ns") and has("exit_code")
		and has("signal") and has("out") and has("err"))' "$dir/run.json"
	check "artifacts" jq -e '.artifacts | all(has("tool") and has("path") and has("bytes") and has("sha256") and has("reader") and has("records")
		and has("verdict") and has("first_ns") and has("last_ns"))' "$dir/run.json"
	check "clocks" jq -e '.clocks | length >= 2 and all(has("monotonic_ns") and has("realtime_ns") and has("boottime_ns") and has("at"))' "$dir/run.json"
	check "tools" jq -e '.tools | all(has("name") and has("version") and has("argv"))' "$dir/run.json"
	check "metrics" jq -e '.metrics | all(has("name") and has("value") and has("unit") and has("source"))' "$dir/run.json"
	check "warnings" jq -e '.warnings | all(has("code") and has("severity") and has("count") and has("text"))' "$dir/run.json"
	check "plan.json is JSON" jq -e . "$dir/plan.json"
	check "samples files have their header" sh -c 'for f in "$1"/samples/*.csv; do [ -e "$f" ] || continue; grep -q "^# clock: CLOCK_MONOTONIC" "$f" && grep -q "^t_ns," "$f" || exit 1; done' sh "$dir"
}
