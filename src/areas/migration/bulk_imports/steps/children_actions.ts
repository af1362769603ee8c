/** Listing the subgroups and projects of a group, which become entities of the migration. */
import { groupPathReasons, pathReasons } from '../../../people/namespaces/index.ts';
import { destinationOf, type NewEntity } from '../definition.ts';
import { inStep, record } from '../journal_actions.ts';
import { listed, pathAtSource } from '../source/queries.ts';
import type { Step, StepCall, StepFailure } from '../step_definition.ts';
import { firstPhase } from '../step_rules.ts';

const maximumEntities = 10_000;
const maximumLevels = 20;
/** PostgreSQL accepts 65,535 parameters in a statement. */
const rowsPerStatement = 1000;
const segment = /^[a-zA-Z0-9_.][a-zA-Z0-9_.-]{0,254}$/;

interface Child {
  entity_type: NewEntity['entity_type'];
  path: string;
}

interface Children {
  found: Child[];
  /** Failures for children that cannot keep their path here. */
  refused: StepFailure[];
}

/** The path of a child directly below the group; undefined for anything deeper or elsewhere. */
function childPath(
  call: StepCall,
  value: Record<string, unknown>,
  name: 'full_path' | 'path_with_namespace',
): string | undefined {
  const path = value[name];
  const above = `${call.entity.source_full_path}/`;
  if (typeof path !== 'string' || !path.toLowerCase().startsWith(above.toLowerCase())) return undefined;
  return path.slice(above.length).includes('/') ? undefined : path;
}

const isDeleted = ({ marked_for_deletion_on, marked_for_deletion_at }: Record<string, unknown>) =>
  (marked_for_deletion_on ?? marked_for_deletion_at ?? null) !== null;

const slugOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** Why a child cannot keep the last part of its path here; undefined if it can. */
function reasonAgainst({ entity_type, path }: Child): string | undefined {
  const slug = slugOf(path);
  const reasons = (entity_type === 'group' ? groupPathReasons : pathReasons)(slug, false);
  return reasons[0] ?? (segment.test(slug) ? undefined : 'is invalid');
}

const refusal = ({ entity_type, path }: Child, reason: string): StepFailure => ({
  relation: 'entities',
  step: 'transformer',
  exception_class: 'InvalidRecord',
  message: `The ${entity_type} is left out: path ${reason}`,
  title: slugOf(path).slice(0, 255).toWellFormed(),
  url: null,
});

/** The children of a group. If there are too many, one more than the maximum. */
async function childrenOf(call: StepCall): Promise<Children> {
  const at = pathAtSource(call.entity);
  const children: Children = { found: [], refused: [] };
  const add = (
    entity_type: Child['entity_type'],
    value: Record<string, unknown>,
    name: 'full_path' | 'path_with_namespace',
  ) => {
    const path = isDeleted(value) ? undefined : childPath(call, value, name);
    if (path === undefined) return false;
    const child = { entity_type, path };
    const reason = reasonAgainst(child);
    if (reason === undefined) children.found.push(child);
    else children.refused.push(refusal(child, reason));
    return children.found.length + children.refused.length > maximumEntities;
  };
  for await (const group of listed(call.source, `${at}/subgroups`))
    if (add('group', group, 'full_path')) return children;
  if (call.entity.migrate_projects)
    for await (const project of listed(call.source, `${at}/projects`, { include_subgroups: false, with_shared: false }))
      if (add('project', project, 'path_with_namespace')) return children;
  return children;
}

const tooMany = (message: string): StepFailure => ({
  relation: 'entities',
  step: 'extractor',
  exception_class: 'LimitExceeded',
  message,
  title: null,
  url: null,
});

export const childrenStep: Step = {
  name: 'entities',
  async run(call) {
    const { db, entity, migration, step } = call;
    const { found: children, refused } = await childrenOf(call);
    const destination_namespace = destinationOf(entity);
    await inStep(db, step.id, async (tx, row) => {
      const { count } = await tx
        .selectFrom('bulk_import_entities')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('bulk_import_id', '=', migration.id)
        .executeTakeFirstOrThrow();
      const isDeep = entity.source_full_path.split('/').length >= maximumLevels;
      if (isDeep || count + children.length > maximumEntities) {
        const text = isDeep
          ? `The groups are more than ${maximumLevels} levels deep.`
          : `The migration has more than ${maximumEntities} entities.`;
        return record(tx, call, row, { failures: children.length > 0 ? [tooMany(text)] : [] });
      }
      const { migrate_projects, migrate_memberships } = entity;
      const rows = children.map(({ entity_type, path }) => ({
        ...{
          bulk_import_id: migration.id,
          user_id: migration.user_id,
          parent_id: entity.id,
          entity_type,
          source_full_path: path,
          phase: firstPhase(entity_type),
        },
        destination_namespace,
        destination_slug: path.split('/').at(-1)!,
        migrate_projects,
        migrate_memberships,
      }));
      for (let first = 0; first < rows.length; first += rowsPerStatement)
        await tx
          .insertInto('bulk_import_entities')
          .values(rows.slice(first, first + rowsPerStatement))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      await record(tx, call, row, { failures: refused });
    });
    return 'finished';
  },
};
