/** How migrations appear in responses (docs/reference/bulk_imports.md#objects). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { Address, Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import { entityTypes, states } from './definition.ts';

export const Migration = resource('BulkImport', {
  id: Id,
  status: Type.Enum(states),
  source_type: Type.Literal('gitlab'),
  source_url: Address(),
  created_at: Timestamp,
  updated_at: Timestamp,
  has_failures: Type.Boolean(),
});

export const Failure = resource('BulkImportFailure', {
  relation: Type.String(),
  step: Type.Enum(['extractor', 'transformer', 'loader']),
  exception_message: Type.String(),
  exception_class: Type.String(),
  correlation_id_value: Type.String(),
  created_at: Timestamp,
  pipeline_class: Type.String(),
  pipeline_step: Type.String(),
  source_url: nullable(Address()),
  source_title: nullable(Type.String()),
});

const Count = Type.Object({ source: Type.Integer(), fetched: Type.Integer(), imported: Type.Integer() });

export const Entity = resource('BulkImportEntity', {
  id: Id,
  bulk_import_id: Id,
  status: Type.Enum(states),
  entity_type: Type.Enum(entityTypes),
  source_full_path: Type.String(),
  destination_full_path: nullable(Type.String()),
  destination_name: Type.String(),
  destination_slug: Type.String(),
  destination_namespace: Type.String(),
  parent_id: nullable(Id),
  namespace_id: nullable(Id),
  project_id: nullable(Id),
  created_at: Timestamp,
  updated_at: Timestamp,
  failures: Type.Array(Failure),
  migrate_projects: Type.Boolean(),
  migrate_memberships: Type.Boolean(),
  has_failures: Type.Boolean(),
  stats: Type.Record(Type.String(), Count, { description: 'By relation' }),
});

/** All migrations in the form of the reply. */
export const migrations = (db: Database) =>
  db
    .selectFrom('bulk_imports')
    .select(['id', 'state as status', sql<'gitlab'>`'gitlab'`.as('source_type')])
    .select(['source_url', 'created_at', 'updated_at', 'has_failures'])
    .$castTo<Static<typeof Migration>>();

/** The failures of all entities in the form of the reply. */
export const failures = (db: Database) =>
  db
    .selectFrom('bulk_import_failures')
    .select(['relation', 'step', 'exception_message', 'exception_class', 'correlation_id as correlation_id_value'])
    .select(['created_at', 'pipeline_class', 'step as pipeline_step', 'source_url', 'source_title'])
    .$castTo<Static<typeof Failure>>();

/** The number of failures shown in an entity. */
const maximumFailures = 100;

const failuresJson = sql<Static<typeof Failure>[]>`array(
  select to_jsonb(failure) from (
    select relation, step, exception_message, exception_class, correlation_id as correlation_id_value, created_at, pipeline_class,
           step as pipeline_step, source_url, source_title
      from bulk_import_failures where entity_id = bulk_import_entities.id order by id limit ${sql.lit(maximumFailures)}) failure)`;

const statsJson = sql<Static<typeof Entity>['stats']>`coalesce((
  select jsonb_object_agg(name, count) from bulk_import_relations, jsonb_each(counts) each(name, count)
   where entity_id = bulk_import_entities.id), '{}')`;

const fullPath = sql<string | null>`coalesce(
  (select full_path::text from namespaces where id = bulk_import_entities.namespace_id),
  (select full_path::text from projects where id = bulk_import_entities.project_id))`;

/** All entities in the form of the reply. */
export const entities = (db: Database) =>
  db
    .selectFrom('bulk_import_entities')
    .select([
      'id',
      'bulk_import_id',
      'state as status',
      'entity_type',
      'source_full_path',
      'destination_slug as destination_name',
    ])
    .select([
      'destination_slug',
      'destination_namespace',
      'parent_id',
      'namespace_id',
      'project_id',
      'created_at',
      'updated_at',
    ])
    .select(['migrate_projects', 'migrate_memberships', 'has_failures'])
    .select([fullPath.as('destination_full_path'), failuresJson.as('failures'), statsJson.as('stats')])
    .$castTo<Static<typeof Entity>>();

/** Formats the times in the failures of an entity: inside JSON, PostgreSQL writes them in a form of its own. */
export const presentEntity = (row: Static<typeof Entity>): Static<typeof Entity> => ({
  ...row,
  failures: row.failures.map((failure) => ({ ...failure, created_at: new Date(failure.created_at).toISOString() })),
});
