# examples/mlp: the binary lies beside its profrig.yaml, because that is where the model runs.
EXAMPLES := examples/mlp/mlp
examples/mlp/mlp: examples/mlp/mlp.c Makefile mk/example.mk
	$(call say,CC,$@)
	$(Q)$(CC) -std=gnu17 -O2 -g -Wall -Wextra $< -o $@ -Wl,-z,dynamic-undefined-weak -lopenblas -lm
all: $(EXAMPLES)
