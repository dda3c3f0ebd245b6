{'docker_env_vars': {'A': 'x y', 'B': '$HOME `id`'}, 'tools': [{'name': 'rocprof', 'cmd': 'bash "a b" --'}], 'docker_gpus': '0,2-4'}
