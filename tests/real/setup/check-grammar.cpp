#include "json-schema-to-grammar.h"
#include "llama-grammar.h"
#include "llama-vocab.h"
#include "nlohmann/json.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>

/*
 * Reads the tools of a chat completion, a JSON array, and makes one grammar of them, as llama.cpp's server does. Exits
 * with 1 where llama.cpp refuses them, and says on stderr what it says. Models take arguments as one JSON object
 * (common/chat-peg-parser.cpp) or each by itself (common/chat-auto-parser-generator.cpp): both ways are tried.
 */

using json = nlohmann::ordered_json;

// The rest of llama.cpp is not built. Words of tokens are asked for only where a grammar names a token.
int32_t llama_vocab::tokenize(const char *, int32_t, llama_token *, int32_t, bool, bool) const { abort(); }
const std::string & llama_vocab::token_to_piece(llama_token) const { abort(); }
bool llama_vocab::is_eog(llama_token) const { abort(); }

extern "C" void lm_ggml_abort(const char * file, int line, const char * text, ...) {
    fprintf(stderr, "%s:%d: %s\n", file, line, text);
    abort();
}

void llama_log_internal(lm_ggml_log_level, const char * text, ...) {
    va_list values;
    va_start(values, text);
    vfprintf(stderr, text, values);
    va_end(values);
}

static std::string add_whole(const common_grammar_builder & builder, const std::string & name, const json & parameters) {
    return builder.add_schema("tool-" + name + "-schema", parameters);
}

static std::string add_each(const common_grammar_builder & builder, const std::string & name, const json & parameters) {
    std::set<std::string> required;
    if (parameters.contains("required")) parameters.at("required").get_to(required);
    const json properties = parameters.contains("properties") ? parameters.at("properties") : json::object();
    auto resolved = parameters;
    common_schema_info info;
    info.resolve_refs(resolved);
    std::string rule;
    for (const auto & [key, schema] : properties.items()) {
        const auto value = info.resolves_to_string(schema) ? "[^<]*" : builder.add_schema("tool-" + name + "-arg-" + key + "-schema", schema);
        const auto argument = builder.add_rule("tool-" + name + "-arg-" + key, gbnf_format_literal(key) + " " + value);
        rule += required.count(key) ? argument + " " : "( " + argument + " )? ";
    }
    return builder.add_rule("tool-" + name + "-arguments", rule.empty() ? "\"\"" : rule);
}

static std::string to_grammar(const json & tools, decltype(add_whole) add) {
    return build_grammar([&](const common_grammar_builder & builder) {
        std::string root;
        for (const auto & tool : tools) {
            auto resolved = tool.at("function").at("parameters");
            builder.resolve_refs(resolved);
        }
        for (const auto & tool : tools) {
            const auto & function = tool.at("function");
            const std::string name = function.at("name");
            const auto rule = add(builder, name, function.at("parameters"));
            root += (root.empty() ? "" : " | ") + gbnf_format_literal(name) + " " + rule;
        }
        builder.add_rule("root", root);
    });
}

static bool parses(const std::string & grammar) {
    auto * parsed = llama_grammar_init_impl(nullptr, grammar.c_str(), "root", false, nullptr, 0, nullptr, 0);
    if (parsed) llama_grammar_free_impl(parsed);
    return parsed != nullptr;
}

int main() {
    try {
        const auto tools = json::parse(std::cin);
        return parses(to_grammar(tools, add_whole)) && parses(to_grammar(tools, add_each)) ? 0 : 1;
    } catch (const std::exception & error) {
        fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
