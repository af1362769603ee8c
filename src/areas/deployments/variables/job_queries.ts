/** The variables that jobs of a project may get. */
import { sql } from 'kysely';
import type { ScopedVariable } from '../../../ci_configuration/index.ts';
import type { Services } from '../../../http/index.ts';
import { valuePurpose } from './queries.ts';

/** Variables by their owner; those of groups from the nearest group on. */
export interface OwnedVariables {
  project: ScopedVariable[];
  groups: ScopedVariable[][];
  instance: ScopedVariable[];
}

/** The variables of a project, of the groups above it and of the instance, without those whose value cannot be decrypted. */
export async function variablesOfJobs(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  project_id: number,
): Promise<OwnedVariables> {
  const rows = await db
    .selectFrom('variables')
    .select(['project_id', 'group_id', 'key', 'value', 'variable_type', 'raw', 'masked', 'protected'])
    .select('environment_scope')
    .where(
      sql<boolean>`(project_id = ${project_id} or project_id is null and group_id is null
        or group_id = any (select unnest(traversal_ids) from projects join namespaces on namespaces.id = projects.namespace_id where projects.id = ${project_id}))`,
    )
    .orderBy(
      sql`(select cardinality(traversal_ids) from namespaces where namespaces.id = variables.group_id)`,
      (order) => order.desc().nullsLast(),
    )
    .orderBy('key')
    .orderBy('environment_scope')
    .execute();
  const found: OwnedVariables = { project: [], groups: [], instance: [] };
  const groups = new Map<number, ScopedVariable[]>();
  for (const { project_id: own, group_id, value: sealed, variable_type, ...row } of rows) {
    const value = secrets.unseal(valuePurpose, sealed);
    if (value === undefined) continue;
    const variable = { ...row, value, file: variable_type === 'file' };
    if (own !== null) found.project.push(variable);
    else if (group_id === null) found.instance.push(variable);
    else groups.set(group_id, [...(groups.get(group_id) ?? []), variable]);
  }
  return { ...found, groups: [...groups.values()] };
}
