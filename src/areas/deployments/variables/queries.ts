/** Queries for CI/CD variables. */
import type { Owner } from '../../../access/index.ts';
import { type Database, eachRow } from '../../../db/index.ts';
import { conflict, found } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';

/** The purpose that values of variables are sealed with. */
export const valuePurpose = 'variable value';

const columns = [
  'id',
  'variable_type',
  'key',
  'value',
  'hidden',
  'protected',
  'masked',
  'raw',
  'environment_scope',
  'description',
] as const;

/** The variables of a project, a group or the instance, by key. */
export const variablesOf = (db: Database, { project_id, group_id }: Owner) =>
  db
    .selectFrom('variables')
    .select(columns)
    .where('project_id', project_id === null ? 'is' : '=', project_id)
    .where('group_id', group_id === null ? 'is' : '=', group_id)
    .orderBy('key')
    .orderBy('environment_scope');

export type VariableRow = Awaited<ReturnType<ReturnType<typeof variablesOf>['executeTakeFirstOrThrow']>>;

export const ambiguousText =
  "There are multiple variables with provided parameters. Please use 'filter[environment_scope]'";

/**
 * The variable with a key.
 * @param scope required if the key exists in several scopes
 * @throws ApiError 404, 409 if the key exists in several scopes
 */
export async function variableOf(
  db: Database,
  owner: Owner,
  { key, scope }: { key: string; scope: string | undefined },
): Promise<VariableRow> {
  const query = variablesOf(db, owner).where('key', '=', key).limit(2);
  const rows = await (scope === undefined ? query : query.where('environment_scope', '=', scope)).execute();
  if (rows.length > 1) throw conflict(ambiguousText);
  return found('Variable', rows[0]);
}

/** The variables whose value cannot be decrypted, because it was sealed with another secret key or is damaged. */
export async function* brokenValues(db: Database, secrets: Secrets): AsyncGenerator<{ id: number; key: string }> {
  const rows = eachRow((last) =>
    db.selectFrom('variables').select(['id', 'key', 'value']).where('id', '>', last).orderBy('id'),
  );
  for await (const { id, key, value } of rows) if (secrets.unseal(valuePurpose, value) === undefined) yield { id, key };
}
