# make coverage: which lines the tests on the host reach, by gcovr. A build of its own in build-coverage; the agent and the tracers, which run where the
# workload does, are not counted.
coverage: ## lines that the tests reach (needs gcovr)
	@command -v gcovr >/dev/null || { echo "gcovr is missing: apt-get install gcovr"; exit 1; }
	$(Q)$(MAKE) --no-print-directory COVERAGE=1 OPT="-O0 -g" test-build
	$(Q)find build-coverage -name '*.gcda' -delete
	-@B=build-coverage tests/run.sh $(UNIT_SRC:tests/unit/%.c=build-coverage/tests/unit/%) tests/fuzz/replay.sh $(wildcard tests/cli/*.sh) tests/e2e/failures.sh
	$(Q)gcovr --root . --object-directory build-coverage --exclude tests/ --exclude harness/agent --exclude harness/tracers --sort-percentage --print-summary --txt build-coverage/coverage.txt --html-details build-coverage/coverage.html build-coverage
	@echo "build-coverage/coverage.txt counts them, build-coverage/coverage.html shows them"

.PHONY: coverage
