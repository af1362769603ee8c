import { sql } from 'kysely';
import type { Database } from '../db/index.ts';
import { type Command, UsageError } from './command.ts';
import { briefly } from './database.ts';

const width = 20;

export const importStatus: Command = {
  summary: 'Show how far migrations by direct transfer have come',
  help: `Prints the migrations that run, or the one with the ID: each group and project with a bar, and the relations that have begun with a bar each, what was imported of
what the source has, the failures, and the time that is left at the speed so far.`,
  options: {},
  operand: 'ID',
  operand_is_optional: true,
  run: async ({ operand }, config) => {
    if (operand !== undefined && !/^\d{1,15}$/.test(operand)) throw new UsageError(`“${operand}” is no ID.`);
    await briefly(config, ({ db }) => print(db, operand === undefined ? undefined : Number(operand)));
    return 0;
  },
};

/** @param share from 0 to 1 */
function bar(share: number): string {
  const full = Math.round(Math.min(Math.max(share, 0), 1) * width);
  return `[${'#'.repeat(full)}${'.'.repeat(width - full)}]`;
}

/** The remaining time at the average speed so far. */
function left({ seconds, fetched, source, state }: RelationRow): string {
  if (state !== 'started' || fetched === 0 || fetched >= source) return '';
  const minutes = Math.ceil(((seconds / fetched) * (source - fetched)) / 60);
  return `, about ${minutes} min left`;
}

interface EntityRow {
  id: number;
  migration: string;
  place: string;
  state: string;
  ended: number;
  steps: number;
}

interface RelationRow {
  entity_id: number;
  relation: string;
  state: string;
  source: number;
  fetched: number;
  imported: number;
  failures: number;
  seconds: number;
}

async function print(db: Database, id: number | undefined): Promise<void> {
  const { rows: entities } = await sql<EntityRow>`
    select entities.id, bulk_imports.id || ' from ' || source_url || ': ' || bulk_imports.state as migration, entities.state,
           entity_type || ' ' || source_full_path as place,
           (select count(*) from bulk_import_relations where entity_id = entities.id and state not in ('created', 'started')) as ended,
           (select count(*) from bulk_import_relations where entity_id = entities.id) as steps
      from bulk_import_entities entities join bulk_imports on bulk_imports.id = bulk_import_id
     where ${id === undefined ? sql`bulk_imports.state in ('created', 'started')` : sql`bulk_imports.id = ${id}`}
     order by bulk_imports.id, entities.id`.execute(db);
  const relations = await relationsOf(
    db,
    entities.map(({ id }) => id),
  );
  let migration = '';
  for (const entity of entities) {
    if (entity.migration !== migration) console.log(`Migration ${entity.migration}`);
    migration = entity.migration;
    console.log(`  ${bar(entity.steps === 0 ? 0 : entity.ended / entity.steps)} ${entity.place}: ${entity.state}`);
    for (const relation of relations.get(entity.id) ?? []) {
      const { source, fetched, imported, failures } = relation;
      const failed = failures > 0 ? `, ${failures} failures` : '';
      console.log(
        `    ${bar(source === 0 ? 1 : fetched / source)} ${relation.relation}: ${imported} of ${source}${failed}${left(relation)}`,
      );
    }
  }
}

/** The relations with counted or failed records, by entity. */
async function relationsOf(db: Database, entity_ids: readonly number[]): Promise<Map<number, RelationRow[]>> {
  const { rows } = await sql<RelationRow>`
    select entity_id, relation, state, coalesce((counts->relation->>'source')::bigint, 0) as source,
           coalesce((counts->relation->>'fetched')::bigint, 0) as fetched, coalesce((counts->relation->>'imported')::bigint, 0) as imported,
           failures_count as failures, extract(epoch from coalesce(ended_at, now()) - started_at)::float8 as seconds
      from bulk_import_relations
     where entity_id = any(${entity_ids}::bigint[]) and (jsonb_exists(counts, relation) or failures_count > 0)
     order by stage, id`.execute(db);
  return Map.groupBy(rows, ({ entity_id }) => entity_id);
}
