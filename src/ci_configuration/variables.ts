/** Which variable counts where several have one key (docs/reference/ci_configuration.md#variables). Pure functions. */
import type { CiVariable, Variables } from './expansion.ts';

/** Where variables come from, the strongest first: of two with one key, the one that comes earlier counts. */
export const strongestFirst = [
  /** Given to the pipeline by its starter, a trigger, a schedule or a push option. */
  'pipeline',
  'project',
  /** Of the nearest group first. */
  'groups',
  'instance',
  /** Of reports of needed jobs. */
  'dotenv',
  'rule',
  'job',
  'workflow',
  'root',
  'deployment',
  'predefined',
] as const;

/** Variables by where they come from. */
export type Sources = Partial<Record<(typeof strongestFirst)[number], readonly CiVariable[]>>;

/** The variables that count, by key. */
export function inForce(sources: Sources): Variables {
  const found = new Map<string, CiVariable>();
  for (const source of strongestFirst)
    for (const variable of sources[source] ?? []) if (!found.has(variable.key)) found.set(variable.key, variable);
  return found;
}

/** A variable of a project, group or instance as it is stored. */
export interface ScopedVariable extends CiVariable {
  /** The name of an environment, in which `*` stands for any text. */
  environment_scope: string;
  protected: boolean;
}

function isInScope(scope: string, environment: string | undefined): boolean {
  if (scope === '*') return true;
  if (environment === undefined) return false;
  const parts = scope.split('*');
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return scope === environment;
  if (environment.length < first.length + last.length) return false;
  if (!environment.startsWith(first) || !environment.endsWith(last)) return false;
  const end = environment.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const next = environment.indexOf(part, at);
    if (next < 0 || next + part.length > end) return false;
    at = next + part.length;
  }
  return true;
}

const length = (scope: string) => scope.replaceAll('*', '').length;

/** Of what is for some environments, that with the most specific scope: the longest one that the environment is in. */
export function mostSpecific<Scoped extends { environment_scope: string }>(
  all: readonly Scoped[],
  environment: string | undefined,
): Scoped | undefined {
  let found: Scoped | undefined;
  for (const each of all) {
    if (!isInScope(each.environment_scope, environment)) continue;
    if (!found || length(each.environment_scope) > length(found.environment_scope)) found = each;
  }
  return found;
}

/**
 * The variables of one owner for a job: of each key the one with the most specific scope, which is the longest.
 * @param environment of the job, if it has one
 */
export function variablesFor(
  owned: readonly ScopedVariable[],
  { environment, is_protected }: { environment: string | undefined; is_protected: boolean },
): CiVariable[] {
  const given = Map.groupBy(
    owned.filter((variable) => is_protected || !variable.protected),
    ({ key }) => key,
  );
  return [...given.values()]
    .flatMap((variables) => mostSpecific(variables, environment) ?? [])
    .map(({ environment_scope: _scope, protected: _protected, ...variable }) => variable);
}
