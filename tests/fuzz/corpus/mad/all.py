{'gpu_vendor': 'nvidia', 'guest_os': 'ubuntu', 'host_os': 'HOST_UBUNTU', 'numa_balancing': False, 'ctx_test': 1,
 'MAD_ROCM_PATH': '/opt/rocm-6', 'MAD_CONTAINER_IMAGE': 'img:1',
 'env_vars': {'E': 'low', 'F': 'kept'}, 'docker_env_vars': {'E': 'high'},
 'docker_mounts': {'/data': 'docker', '/abs': '/tmp'},
 'docker_build_arg': {'BASE': 'x', 'N': 3},
 'docker_gpus': '0,2-4,5-5,7', 'docker_cpus': '0,0-0',
 'pre_scripts': [{'path': 'scripts/plain/run.sh', 'args': '1 "2 3"'}], 'post_scripts': [{'path': 'scripts/plain/run.sh'}],
 'encapsulate_script': 'nice -n 5', 'rocenv_mode': 'full', 'gen_sys_env_details': True, 'gpu_renderDs': [128],
 'log_error_pattern_scan': 0, 'log_error_patterns': ['boom'], 'log_error_benign_patterns': ['(harmless)'],
 'live_output': 'yes', 'skip_perf_collection': True, 'ngpus': 4, 'distributed': {'launcher': 'deepspeed', 'nproc_per_node': 4},
 'data': {}}
PY
all() { conf "$1" -f "$T/all.py" plain | sed 's/ ([^(]*)$//'; }
is "the context of Dockerfiles" "$(all context.gpu_vendor) $(all context.guest_os) $(all context.host_os) $(all context.numa_balancing) $(all context.ctx_test)" \
"NVIDIA UBUNTU HOST_UBUNTU false 1"
is "MAD_ROCM_PATH" "$(all env.ROCM_PATH)" "/opt/rocm-6"
is "docker_env_vars goes before env_vars" "$(all env.E) $(all env.F)" "high kept"
is "MAD_GUEST_OS" "$(all env.MAD_GUEST_OS)" "UBUNTU"
is "mounts: the container's path is the key" "$(all 'mounts[0].container') $(all 'mounts[0].host') $(all 'mounts[1].host')" "/data $T/pkg/docker /tmp"
is "build arguments" "$(all build.args.BASE) $(all build.args.N)" "x 3"
is "GPUs: as many of the list as the model wants" "$(conf gpus -c "{'docker_gpus': '0,2-4,5-5,7'}" plain | cut -d' ' -f1)" "0,2"
is "all of them for one that wants all" "$(env_of CUDA_VISIBLE_DEVICES -c "{'docker_gpus': '0,2-4,5-5,7'}" python)" "0,2,3,4,5,7"
is "or as many as the context says" "$(env_of HIP_VISIBLE_DEVICES -f "$T/all.py" plain)" "0,2,3,4"
is "scripts are run by bash, their arguments are words" \
"$(planned -f "$T/all.py" plain | jq -r '.steps[0].argv | [.[0], .[2], .[3]] | join("|")')" "bash|1|2 3"
is "encapsulate_script" "$(workload -f "$T/all.py" plain)" "nice|-n|5|bash|run.sh|--epochs|3"
is "the log scan" "$(all results.log_scan) $(all results.error_patterns) $(all results.benign_patterns)" "off [boom] ['(harmless)']"
is "live_output" "$(all live)" "true"
is "the launcher's words" "$(all env.MAD_MULTI_NODE_RUNNER)" "deepspeed --num_gpus=4"
is "skip_perf_collection" "$(all env.MAD_COLLECT_METRICS)" "false"
is "data of the context goes before data.json" "$(conf 'data[0].path' -c '{"data": {"set": {"local": {"path": "/mine"}}}}' data | cut -d' ' -f1)" "/mine"
code "docker_env_vars reach the workload to the letter" 0 "$PROFRIG" -q run --no-analyze --engine host -o "$T/runs" \
-c "$(cat <<-'PY'
	{'docker_env_vars': {'ODD': "a b $HOME `id` \"q\" 'r' ; | \\"}}
