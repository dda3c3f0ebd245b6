/* tef_jansson FILE: jansson's values of a JSON file and nothing else; how many events it has. */
#include <jansson.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	json_t *j = argc == 2 ? json_load_file(argv[1], 0, NULL) : NULL;

	if (!j)
		return 1;
	printf("%zu\n", json_array_size(json_object_get(j, "traceEvents")));
	json_decref(j);
	return 0;
}
