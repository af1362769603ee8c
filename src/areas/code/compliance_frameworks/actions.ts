/** Changes of compliance frameworks, and of what projects have them (docs/reference/compliance_frameworks.md). */
import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import { type Database, isUniqueViolation, ofAnyLength, stamped } from '../../../db/index.ts';
import { badRequest, found } from '../../../http/index.ts';
import { type FrameworkRow, frameworkOf } from './queries.ts';
import { type FrameworkValues, frameworkReasons, mostFrameworks, type Requirement, takenText } from './rules.ts';

export interface FrameworkChanges extends Partial<FrameworkValues> {
  default?: boolean | undefined;
}

/** @throws ApiError 400 with all reasons in one text */
function refuse(reasons: readonly string[]): void {
  if (reasons.length > 0) throw badRequest(reasons.join(', '));
}

/** Translates a violation of unique names. */
const orTaken = <T>(work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw isUniqueViolation(error, 'compliance_frameworks_name_key') ? badRequest(takenText) : error;
  });

/** A requirement as a framework shows it. */
const asShown = ({ name, description = null, controls }: Requirement) => ({
  name,
  description,
  controls: [...new Set(controls.map((control) => control.name))].map((control) => ({ name: control })),
});

async function writeRequirements(
  tx: Database,
  framework_id: number,
  requirements: readonly Requirement[],
): Promise<void> {
  await tx.deleteFrom('compliance_requirements').where('framework_id', '=', framework_id).execute();
  if (requirements.length === 0) return;
  const rows = requirements.map(asShown).map(({ controls, ...requirement }) => {
    return { ...requirement, framework_id, controls: controls.map(({ name }) => name) };
  });
  await tx.insertInto('compliance_requirements').values(rows).execute();
}

/** A new default framework replaces the former one. */
async function replaceDefault(tx: Database, group_id: number): Promise<void> {
  await tx
    .updateTable('compliance_frameworks')
    .set({ is_default: false })
    .where('group_id', '=', group_id)
    .where('is_default', '=', true)
    .execute();
}

/**
 * Creates a framework.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400 with all reasons in one text
 */
export async function createFramework(
  tx: Database,
  group_id: number,
  { default: is_default = false, requirements, ...given }: FrameworkValues & { default?: boolean | undefined },
): Promise<FrameworkRow> {
  refuse(frameworkReasons({ ...given, requirements }));
  const { count } = await tx
    .selectFrom('compliance_frameworks')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('group_id', '=', group_id)
    .executeTakeFirstOrThrow();
  if (count >= mostFrameworks) throw badRequest(`Maximum number of frameworks (${mostFrameworks}) exceeded`);
  if (is_default) await replaceDefault(tx, group_id);
  const added = tx.insertInto('compliance_frameworks').values({ ...given, group_id, is_default });
  const { id } = await orTaken(added.returning('id').executeTakeFirstOrThrow());
  if (requirements) await writeRequirements(tx, id, requirements);
  return frameworkOf(tx, group_id, id);
}

/**
 * Changes a framework. Requirements are replaced as a whole.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400 with all reasons in one text, 404
 */
export async function changeFramework(
  tx: Database,
  group_id: number,
  id: number,
  { default: is_default, requirements, ...given }: FrameworkChanges,
): Promise<FrameworkRow> {
  const before = await frameworkOf(tx, group_id, id);
  refuse(frameworkReasons({ ...before, ...given, requirements: requirements ?? before.requirements }));
  if (is_default && !before.default) await replaceDefault(tx, group_id);
  const isOther = requirements && !isDeepStrictEqual(requirements.map(asShown), before.requirements);
  const changes = { ...given, ...(is_default === undefined ? {} : { is_default }) };
  const changed = tx.updateTable('compliance_frameworks').set(stamped(changes, isOther)).where('id', '=', id);
  await orTaken(changed.execute());
  if (isOther) await writeRequirements(tx, id, requirements);
  return frameworkOf(tx, group_id, id);
}

export const defaultStaysText = 'Cannot delete the default framework';

/**
 * Deletes a framework. Its projects lose it.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400 for the default one, 404
 */
export async function deleteFramework(tx: Database, group_id: number, id: number): Promise<void> {
  const framework = await frameworkOf(tx, group_id, id);
  if (framework.default) throw badRequest(defaultStaysText);
  await tx.deleteFrom('compliance_frameworks').where('id', '=', id).execute();
}

/**
 * Replaces the frameworks of a project.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404 for a framework that its top-level group does not have
 */
export async function setFrameworks(tx: Database, project_id: number, framework_ids: readonly number[]): Promise<void> {
  const ids = ofAnyLength([...new Set(framework_ids)], 'bigint[]');
  const { rows } = await sql<{ id: number }>`
    select framework.id from compliance_frameworks framework join namespaces place on framework.group_id = place.traversal_ids[1]
      join projects on projects.namespace_id = place.id
     where projects.id = ${project_id} and framework.id = any(${ids})`.execute(tx);
  found('Compliance Framework', rows.length < new Set(framework_ids).size ? undefined : rows);
  await sql`
    delete from project_compliance_frameworks where project_id = ${project_id} and framework_id <> all(${ids})`.execute(
    tx,
  );
  await sql`
    insert into project_compliance_frameworks (project_id, framework_id) select ${project_id}, id from unnest(${ids}) id
    on conflict do nothing`.execute(tx);
}

/** Gives a new project the default framework of its top-level group. @param tx the transaction that creates the project */
export async function giveDefault(tx: Database, project_id: number): Promise<void> {
  await sql`
    insert into project_compliance_frameworks (project_id, framework_id)
    select projects.id, framework.id from projects join namespaces place on place.id = projects.namespace_id
      join compliance_frameworks framework on framework.group_id = place.traversal_ids[1] and framework.is_default
     where projects.id = ${project_id}`.execute(tx);
}
