/** Compiles a configuration: each step takes what the one before has made, and stops at the first error unless it says otherwise. */
import type { CompileInput, CompileResult } from './types.ts';
import { Invalid, isMapping, type Mapping } from './values.ts';
import { readYaml } from './yaml.ts';

const notMapping = 'Invalid configuration format';

/** The content of a file without its header. */
function contentOf(text: string, warnings: string[]): Mapping {
  if (text.trim() === '') throw new Invalid('Please provide content of .gitlab-ci.yml');
  const { documents, doubled } = readYaml(text);
  for (const key of doubled) warnings.push(`${key} is defined twice`);
  const content = documents.length === 1 ? documents[0]!.value : null;
  if (!isMapping(content)) throw new Invalid(notMapping);
  return content;
}

/**
 * Compiles a configuration file with all that it includes. The same input gives the same result.
 * @returns jobs, or errors for people; it throws only what `files` and `holds` throw
 */
export async function compile(input: CompileInput): Promise<CompileResult> {
  const result: CompileResult = {
    errors: [],
    warnings: [],
    includes: [],
    merged_yaml: null,
    jobs: [],
    workflow: { auto_cancel: {} },
    variables: [],
    stages: [],
  };
  try {
    contentOf(input.content, result.warnings);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    result.errors.push(error.message);
  }
  return result;
}
