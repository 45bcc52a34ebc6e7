# `make demo` and `make test` set everything up from nothing but python3, pip and make.

PYTHON ?= python3
DEMO := .venv
TEST := .venv-test

.PHONY: demo test check lint format lock clean

demo: $(DEMO)/.ready
	$(DEMO)/bin/memgauge install embedded
	$(DEMO)/bin/memgauge run quickstart $(ARGS)

test: $(TEST)/.ready
	$(TEST)/bin/memgauge install embedded --all
	$(MAKE) --no-print-directory lint
	$(TEST)/bin/pytest -n 2 --dist loadgroup $(ARGS)

lint: $(TEST)/.ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .
	$(TEST)/bin/mypy

format: $(TEST)/.ready
	$(TEST)/bin/ruff format .
	$(TEST)/bin/ruff check --fix .

$(DEMO)/.ready: requirements/demo.txt pyproject.toml
$(TEST)/.ready: requirements/test.txt pyproject.toml

# --no-build-isolation: the build backend is locked with the rest.
$(DEMO)/.ready $(TEST)/.ready:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memgauge needs Python 3.11 or later, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# Needs uv (pip install uv).
lock:
	uv pip compile --quiet pyproject.toml --extra embedded --group build $(UV_LOCK) -o requirements/demo.txt
	uv pip compile --quiet pyproject.toml --extra embedded --extra figures --extra raptor --group dev $(UV_LOCK) -o requirements/test.txt
	for wanted in $$(find src/memgauge/products -name '*.in'); do \
	  uv pip compile --quiet $$wanted $$(ls $${wanted%.in}.excludes 2>/dev/null | sed 's/^/--excludes /') \
	    $(UV_LOCK) --no-annotate -o $${wanted%.in}.txt; done

UV_LOCK := --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links

clean:
	rm -rf $(DEMO) $(TEST) .mypy_cache .ruff_cache .pytest_cache .hypothesis
