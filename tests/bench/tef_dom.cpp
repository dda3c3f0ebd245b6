/* tef_dom FILE: simdjson's DOM of a JSON file and nothing else; how many events it has. */
#include <cstdio>

#include <simdjson.h>

int main(int argc, char **argv)
{
	simdjson::dom::parser parser;
	simdjson::dom::element doc;

	if (argc != 2 || parser.load(argv[1]).get(doc))
		return 1;
	std::printf("%zu\n", doc["traceEvents"].get_array().size());
	return 0;
}
