/** Compiles a configuration: each step takes what the one before has made, and stops at the first error unless it says otherwise. */
import { DUMP_SCHEMA, dump, realMapTag } from 'js-yaml';
import { readEntries } from './entries.ts';
import { extended } from './extending.ts';
import { included } from './includes.ts';
import { masking } from './masking.ts';
import { multiplied } from './parallel.ts';
import { resolved } from './references.ts';
import { checkRelations } from './relations.ts';
import { withoutJobs } from './results.ts';
import type { CompileInput, CompileResult, Include } from './types.ts';
import { checkSize, Invalid, type Mapping } from './values.ts';

/** Of errors and of warnings, each at most so long. */
const maximumTexts = 1_000;
const maximumText_chars = 2_000;

const yamlSchema = DUMP_SCHEMA.withTags(realMapTag);
const yamlOf = (entries: Mapping) => `---\n${dump(entries, { schema: yamlSchema, noRefs: true, lineWidth: -1 })}`;

/** The addresses of an include have variables in them. */
const hidden = ({ location, blob, raw, ...others }: Include, hide: (text: string) => string): Include => ({
  ...others,
  location: hide(location),
  blob: blob && hide(blob),
  raw: raw && hide(raw),
});

/** Does all steps; the result has what was made before an error. */
async function compileInto(result: CompileResult, input: CompileInput): Promise<void> {
  const { content, odd_keys } = await included(input, result.includes, result.warnings);
  const entries = resolved(extended(content));
  checkSize(entries);
  result.merged_yaml = yamlOf(entries);
  const { jobs, workflow, variables, stages } = readEntries(entries, odd_keys, result);
  if (result.errors.length > 0) return;
  const all = multiplied(jobs);
  checkRelations(all, stages);
  Object.assign(result, { jobs: all, workflow, variables, stages });
}

/**
 * Compiles a configuration file with all that it includes, up to the relations between its jobs. The same input gives the same result.
 * @returns jobs, or errors for people; it throws only what `files` and `holds` throw
 */
export async function compile(input: CompileInput): Promise<CompileResult> {
  const result = withoutJobs([]);
  try {
    await compileInto(result, input);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    result.errors.push(error.message);
  }
  const hide = masking(input.masked ?? []);
  const shown = (texts: readonly string[]) =>
    texts.slice(0, maximumTexts).map((text) => hide(text).slice(0, maximumText_chars));
  return {
    ...result,
    errors: shown(result.errors),
    warnings: shown(result.warnings),
    merged_yaml: result.merged_yaml && hide(result.merged_yaml),
    includes: result.includes.map((include) => hidden(include, hide)),
  };
}
