/** The text of a configuration and of all that it includes, merged: each file over what it includes, later includes over earlier ones. */
import type { Variables } from './expansion.ts';
import { globMatcher } from './globs.ts';
import { expandWithin, withInputs } from './inputs.ts';
import { type WrittenInclude, writtenInclude } from './shapes/includes.ts';
import { includeRules } from './shapes/rules.ts';
import { type Findings, Place } from './shapes/shape.ts';
import type { CompileInput, FileContent, FileContext, FileRefusal, FileRequest, Include } from './types.ts';
import { Invalid, isList, isMapping, type Mapping, merged, tooBig, type Value, valueFrom } from './values.ts';
import { readYaml } from './yaml.ts';

const maximumFiles = 150;
const maximumTotal_bytes = 10 * 1024 * 1024;

const notMapping = 'Invalid configuration format';
const nothing: Mapping = new Map();

/** What was read: the merged content, and the keys of its root that are no texts. */
export interface Content {
  content: Mapping;
  odd_keys: ReadonlySet<string>;
}

/** A file that an include names, with values for its inputs. */
interface Wanted {
  request: FileRequest;
  inputs: Mapping;
}

/** The name of a file in errors, and in the list of includes. */
const locationOf = (request: FileRequest): string => (request.type === 'remote' ? request.url : request.path);

function projectText({ project, ref, path }: Extract<FileRequest, { type: 'project' }>, refused: string): string {
  if (refused === 'project_hidden')
    return `Project \`${project}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`;
  return refused === 'ref_missing'
    ? `Project \`${project}\` reference \`${ref}\` does not exist!`
    : `Project \`${project}\` file \`${path}\` does not exist!`;
}

function refusalText(request: FileRequest, refusal: FileRefusal): string {
  const location = locationOf(request);
  switch (refusal.refused) {
    case 'took_too_long':
      return 'Resolving config took longer than expected';
    case 'too_big':
      return `\`${location}\`: ${tooBig}`;
    case 'bad_address':
      return `Remote file \`${location}\` does not have a valid address!`;
    case 'timeout':
      return `Remote file \`${location}\` could not be fetched because of a timeout error!`;
    case 'unreachable':
      return `Remote file could not be fetched because ${refusal.reason}!`;
    case 'http_status':
      return `Remote file \`${location}\` could not be fetched because of HTTP code \`${refusal.status}\` error!`;
    case 'no_parent_pipeline':
      return 'Including configs from artifacts is only allowed when triggering child pipelines';
    case 'job_missing':
      return `Job \`${request.type === 'artifact' ? request.job : ''}\` not found in parent pipeline or does not have artifacts!`;
    default:
      if (request.type === 'project') return projectText(request, refusal.refused);
      if (request.type === 'local') return `Local file \`${location}\` does not exist!`;
      return `Included file \`${location}\` is empty or does not exist!`;
  }
}

function emptyText(request: FileRequest): string {
  if (request.type === 'project') return `Project \`${request.project}\` file \`${request.path}\` is empty!`;
  if (request.type === 'local') return `Local file \`${request.path}\` is empty!`;
  return `Included file \`${locationOf(request)}\` is empty or does not exist!`;
}

function extraOf(request: FileRequest): Record<string, string> {
  if (request.type === 'project')
    return { project: request.project, ...(request.ref !== undefined && { ref: request.ref }) };
  return request.type === 'artifact' ? { job_name: request.job } : {};
}

const withoutSlashes = (path: string) => path.replace(/^\/+/, '');

class Including {
  readonly #input: CompileInput;
  readonly #variables: Variables;
  readonly #includes: Include[];
  readonly #doubled = new Set<string>();
  readonly odd_keys = new Set<string>();
  #total_bytes = 0;

  constructor(input: CompileInput, includes: Include[]) {
    this.#input = input;
    this.#variables = new Map([...input.variables].map(([key, value]) => [key, { key, value, raw: true }]));
    this.#includes = includes;
  }

  get warnings(): string[] {
    return [...this.#doubled].map((key) => `${key} is defined twice`);
  }

  async root(): Promise<Mapping> {
    const { content, context, inputs = {} } = this.#input;
    if (content.trim() === '') throw new Invalid('Please provide content of .gitlab-ci.yml');
    const read = this.#parsed(content, valueFrom(inputs) as Mapping);
    if (!isMapping(read)) throw new Invalid(notMapping);
    return await this.#withIncludes(read, context);
  }

  #parsed(text: string, inputs: Mapping): Value {
    this.#total_bytes += Buffer.byteLength(text);
    if (this.#total_bytes > maximumTotal_bytes)
      throw new Invalid('Total size of combined CI/CD configuration is too big');
    const file = readYaml(text);
    for (const key of file.doubled) this.#doubled.add(key);
    for (const key of file.documents.at(-1)?.odd_keys ?? []) this.odd_keys.add(key);
    return withInputs(file, inputs, this.#variables);
  }

  async #withIncludes(content: Mapping, context: FileContext | undefined): Promise<Mapping> {
    const own = new Map(content);
    own.delete('include');
    const given = content.get('include') ?? [];
    let result = nothing;
    for (const item of isList(given) ? given : [given])
      for (const wanted of await this.#wantedBy(item, context))
        result = merged(result, await this.#contentOf(wanted, context));
    return merged(result, own);
  }

  /** The files that an include names; none if its rules say so. */
  async #wantedBy(item: Value, context: FileContext | undefined): Promise<Wanted[]> {
    const include = writtenInclude(this.#expanded(item));
    if ('problem' in include) throw new Invalid(include.problem);
    if (isMapping(item) && !(await this.#isWanted(item.get('rules') ?? null, context))) return [];
    const { inputs = nothing } = include;
    if (!isMapping(inputs)) throw new Invalid('include:inputs config should be a hash');
    return (await this.#requestsOf(include, context)).map((request) => ({ request, inputs }));
  }

  /** An include with variables in its texts, but for rules: these have expressions of their own. */
  #expanded(value: Value): Value {
    if (typeof value === 'string') return expandWithin(value, this.#variables);
    if (isList(value)) return value.map((item) => this.#expanded(item));
    if (!isMapping(value)) return value;
    return new Map([...value].map(([key, member]) => [key, key === 'rules' ? member : this.#expanded(member)]));
  }

  async #isWanted(rules: Value, context: FileContext | undefined): Promise<boolean> {
    if (rules === null) return true;
    const findings: Findings = { errors: [], warnings: [] };
    const read = includeRules(rules, new Place(findings, 'include:rules')) ?? [];
    const [error] = findings.errors;
    if (error !== undefined) throw new Invalid(error);
    for (const { when, ...clauses } of read) if (await this.#input.holds(clauses, context)) return when !== 'never';
    return false;
  }

  async #requestsOf(include: WrittenInclude, context: FileContext | undefined): Promise<FileRequest[]> {
    switch (include.type) {
      case 'remote':
        return [{ type: 'remote', url: include.url }];
      case 'artifact':
        return [{ type: 'artifact', job: include.job, path: include.path }];
      case 'project': {
        const { project, ref, paths } = include;
        return paths.map((path) => ({
          type: 'project',
          project: withoutSlashes(project),
          ref,
          path: withoutSlashes(path),
        }));
      }
      case 'local': {
        const path = withoutSlashes(include.path);
        if (!context) throw new Invalid(`Local file \`${path}\` does not have project!`);
        const paths = path.includes('*') ? (await this.#input.files.paths(context)).filter(globMatcher(path)) : [path];
        return paths.map((each) => ({ type: 'local', context, path: each }));
      }
    }
  }

  async #contentOf({ request, inputs }: Wanted, from: FileContext | undefined): Promise<Mapping> {
    if (this.#includes.length >= maximumFiles)
      throw new Invalid(`Maximum of ${maximumFiles} nested includes are allowed!`);
    const file = await this.#input.files.read(request);
    if ('refused' in file) throw new Invalid(refusalText(request, file));
    this.#note(request, file, from);
    if (file.content.trim() === '') throw new Invalid(emptyText(request));
    const location = locationOf(request);
    const content = this.#within(location, () => this.#parsed(file.content, inputs));
    if (!isMapping(content)) throw new Invalid(`Included file \`${location}\` does not have valid YAML syntax!`);
    return await this.#withIncludes(content, file.context);
  }

  /** Errors of a file say which it is; the total of all files is not its own. */
  #within(location: string, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Invalid) || this.#total_bytes > maximumTotal_bytes) throw error;
      throw new Invalid(`\`${location}\`: ${error.message}`);
    }
  }

  #note(request: FileRequest, { blob, raw }: FileContent, from: FileContext | undefined): void {
    this.#includes.push({
      type: request.type === 'project' ? 'file' : request.type,
      location: locationOf(request),
      blob,
      raw,
      extra: extraOf(request),
      context_project: from?.project ?? null,
      context_sha: from?.sha ?? null,
    });
  }
}

/**
 * Reads a configuration with all that it includes.
 * @param includes gets each file that is read
 * @param warnings gets the keys that are twice in one mapping
 * @throws Invalid
 */
export async function included(input: CompileInput, includes: Include[], warnings: string[]): Promise<Content> {
  const including = new Including(input, includes);
  const content = await including.root();
  for (const warning of including.warnings) warnings.push(warning);
  return { content, odd_keys: including.odd_keys };
}
