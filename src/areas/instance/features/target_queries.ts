/** The targets of a feature change: resolves the names in parameters to the actors and groups that gates hold. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badParams, badRequest } from '../../../http/index.ts';
import { type Actor, type ActorKind, actorGroups } from '../experiments/gate_rules.ts';

/** The parameters that select actors. */
export const actorParameters = ['user', 'group', 'namespace', 'project', 'repository'] as const;
type ActorParameter = (typeof actorParameters)[number];

/** Lists of names and paths; an omitted list selects no target. */
export type TargetNames = { [P in ActorParameter | 'feature_group']?: string[] };

export interface Targets {
  actors: Actor[];
  groups: string[];
}

/** How a name is looked up. */
interface TargetName {
  parameter: ActorParameter;
  name: string;
  /** A repository is identified by the path of its project followed by `.git`. */
  path: string;
}

const pathOf = (parameter: ActorParameter, name: string) =>
  parameter === 'repository' ? (/^(.+)\.git$/i.exec(name)?.[1] ?? '') : name;

const actor = (kind: ActorKind, table: string) => sql`${`${kind}:`}::text || ${sql.ref(`${table}.id`)}`;

/** The actor of each name, in order; null for an unknown one. */
async function actorsOf(db: Database, asked: readonly TargetName[]): Promise<(Actor | null)[]> {
  const { rows } = await sql<{ actor: Actor | null }>`
    select case asked.parameter
             when 'user' then ${actor('User', 'users')}
             when 'project' then ${actor('Project', 'projects')}
             when 'repository' then ${actor('Repository', 'projects')}
             else case namespaces.kind when 'group' then ${actor('Group', 'namespaces')}
                                       else ${actor('Namespaces::UserNamespace', 'namespaces')} end end as actor
      from unnest(${asked.map(({ parameter }) => parameter)}::text[], ${asked.map(({ path }) => path)}::citext[])
           with ordinality asked(parameter, path, place)
           left join users on asked.parameter = 'user' and users.username = asked.path
           left join namespaces on namespaces.full_path = asked.path
             and (asked.parameter = 'namespace' or asked.parameter = 'group' and namespaces.kind = 'group')
           left join projects on asked.parameter in ('project', 'repository') and projects.full_path = asked.path
     order by asked.place`.execute(db);
  return rows.map((row) => row.actor);
}

const notThere = (name: string) => badRequest(`400 Bad request - ${name} is not found!`);

/**
 * All given targets.
 * @throws ApiError 400 with the name of an unknown target or an empty list: an empty list must not be interpreted as
 * everyone
 */
export async function targetsOf(db: Database, names: TargetNames): Promise<Targets> {
  for (const [parameter, list] of Object.entries(names))
    if (list.length === 0) throw badParams(`${parameter} is empty`);
  const asked = actorParameters.flatMap((parameter) =>
    (names[parameter] ?? []).map((name) => ({ parameter, name, path: pathOf(parameter, name) })),
  );
  const groups = names.feature_group ?? [];
  const actors = asked.length > 0 ? await actorsOf(db, asked) : [];
  const missing =
    asked.find((_, index) => actors[index] === null)?.name ?? groups.find((name) => !Object.hasOwn(actorGroups, name));
  if (missing !== undefined) throw notThere(missing);
  return { actors: actors.filter((found) => found !== null), groups };
}
