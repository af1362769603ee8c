/** Migrations by direct transfer: groups and projects that are copied from another server (docs/reference/bulk_imports.md). */
import { type Static, type TObject, Type } from 'typebox';
import { refuseTooOften, signedIn, tooOftenText } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Access,
  ApiError,
  type Caller,
  found,
  get,
  Id,
  leftOutIfBlank,
  one,
  optional,
  pageOf,
  post,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { cancelMigration, endTexts, retryMigration } from './actions.ts';
import { destinationTexts, startMigration } from './creation_actions.ts';
import { type NewEntity, states } from './definition.ts';
import { type GivenEntity, migrationInput } from './parameters.ts';
import { Entity, entities, Failure, failures, Migration, migrations, presentEntity } from './present.ts';
import { checkTexts } from './source/checks.ts';

const filters = { status: optional(Type.Enum(states)) };
const newestFirst = { ...filters, sort: Type.Enum(['asc', 'desc'], { default: 'desc' }) };
const oldestFirst = { ...filters, sort: Type.Enum(['asc', 'desc'], { default: 'asc' }) };
type Filters = Static<TObject<typeof newestFirst>>;

/** A migration is visible only to the user who started it. */
const migrationsOf = (db: Database, user_id: number) => migrations(db).where('user_id', '=', user_id);

/** @throws ApiError 404 */
async function migrationReply(db: Database, id: number) {
  return found(undefined, await migrations(db).where('id', '=', id).executeTakeFirst());
}

/** @throws ApiError 404 for a migration of another user */
async function checkOwn(db: Database, user_id: number, id: number): Promise<void> {
  found(undefined, await migrationsOf(db, user_id).where('id', '=', id).executeTakeFirst());
}

const entitiesIn = (db: Database, { status, sort }: Filters) =>
  entities(db)
    .$if(status !== undefined, (q) => q.where('state', '=', status!))
    .orderBy('created_at', sort)
    .orderBy('id', sort);

/** @throws ApiError 404 */
const entityOf = async (db: Database, user_id: number, input: { id: number; entity_id: number }) =>
  found(
    undefined,
    await entities(db)
      .where('user_id', '=', user_id)
      .where('bulk_import_id', '=', input.id)
      .where('id', '=', input.entity_id)
      .executeTakeFirst(),
  );

const newEntity = ({ source_type, destination_name: _, ...entity }: GivenEntity): NewEntity => ({
  ...entity,
  entity_type: source_type === 'group_entity' ? 'group' : 'project',
});

/** Admits every caller with a valid token, while the setting is on. */
const importer: Access<{ caller: Caller }> = {
  rule: 'signed in, where migrations are on',
  async check(call) {
    const granted = await signedIn.check(call);
    if (!(await settingsOf(call.db)).bulk_import_enabled) throw new ApiError(404, { message: '404 Not Found' });
    return granted;
  },
};

export const bulkImportRoutes = [
  post('/bulk_imports', {
    operation: 'startBulkImport',
    summary: 'Start a migration of groups and projects from another server',
    description:
      'At most 6 calls a minute and user. The source is asked before the reply, which takes at most 15 seconds.',
    access: importer,
    input: migrationInput,
    returns: one(Migration),
    refusals: {
      422: [
        ...Object.values(checkTexts).map((text) => (typeof text === 'string' ? text : text('<value>'))),
        ...Object.values(destinationTexts).map((text) => (typeof text === 'string' ? text : text('<path>'))),
      ],
      429: tooOftenText,
    },
    handle: async ({ caller, input: { configuration, entities: given }, ...services }) => {
      await refuseTooOften(services.db, { name: 'bulk_import', who: `user:${caller.id}`, most: 6, window_s: 60 });
      const id = await startMigration(services, caller, { ...configuration, entities: given.map(newEntity) });
      return migrationReply(services.db, id);
    },
  }),
  get('/bulk_imports', {
    operation: 'listBulkImports',
    summary: 'List the migrations that the caller has started',
    access: importer,
    input: { ...paging, ...newestFirst },
    returns: pageOf(Migration),
    handle: ({ db, caller, input }) => {
      const { status, sort } = input;
      const own = migrationsOf(db, caller.id).$if(status !== undefined, (q) => q.where('state', '=', status!));
      return paginate(db, own.orderBy('created_at', sort).orderBy('id', sort), input);
    },
  }),
  get('/bulk_imports/entities', {
    operation: 'listEntitiesOfBulkImports',
    summary: 'List the entities of all migrations that the caller has started',
    access: importer,
    input: { ...paging, ...newestFirst },
    returns: pageOf(Entity),
    handle: async ({ db, caller, input }) =>
      mapPage(await paginate(db, entitiesIn(db, input).where('user_id', '=', caller.id), input), presentEntity),
  }),
  get('/bulk_imports/:id', {
    operation: 'getBulkImport',
    summary: 'Show a migration',
    access: importer,
    input: { id: Id },
    returns: one(Migration),
    handle: async ({ db, caller, input }) =>
      found(undefined, await migrationsOf(db, caller.id).where('id', '=', input.id).executeTakeFirst()),
  }),
  get('/bulk_imports/:id/entities', {
    operation: 'listBulkImportEntities',
    summary: 'List the entities of a migration',
    access: importer,
    input: { id: Id, ...paging, ...oldestFirst },
    returns: pageOf(Entity),
    handle: async ({ db, caller, input }) => {
      await checkOwn(db, caller.id, input.id);
      const own = entitiesIn(db, input).where('bulk_import_id', '=', input.id);
      return mapPage(await paginate(db, own, input), presentEntity);
    },
  }),
  get('/bulk_imports/:id/entities/:entity_id', {
    operation: 'getBulkImportEntity',
    summary: 'Show an entity of a migration',
    access: importer,
    input: { id: Id, entity_id: Id },
    returns: one(Entity),
    handle: async ({ db, caller, input }) => presentEntity(await entityOf(db, caller.id, input)),
  }),
  get('/bulk_imports/:id/entities/:entity_id/failures', {
    operation: 'listBulkImportEntityFailures',
    summary: 'List the records of an entity that could not be imported, oldest first',
    access: importer,
    input: { id: Id, entity_id: Id, ...paging },
    returns: pageOf(Failure),
    handle: async ({ db, caller, input }) => {
      const { id } = await entityOf(db, caller.id, input);
      return paginate(db, failures(db).where('entity_id', '=', id).orderBy('id'), input);
    },
  }),
  post('/bulk_imports/:id/cancel', {
    operation: 'cancelBulkImport',
    summary: 'Cancel a migration; what has been copied stays',
    access: importer,
    input: { id: Id },
    returns: { ...one(Migration), status: 200 },
    refusals: { 400: endTexts.ended },
    handle: async ({ db, caller, input: { id } }) => {
      await cancelMigration(db, id, caller.admin ? undefined : caller.id);
      return migrationReply(db, id);
    },
  }),
  post('/bulk_imports/:id/retry', {
    operation: 'retryBulkImport',
    summary: 'Retry the failed parts of a finished migration',
    access: importer,
    input: {
      id: Id,
      access_token: optional(
        leftOutIfBlank(
          Type.String({ description: 'Token for the source; required when the stored one has been erased' }),
        ),
      ),
    },
    returns: { ...one(Migration), status: 200 },
    refusals: { 400: endTexts.running },
    handle: async ({ caller, input: { id, access_token }, ...services }) => {
      await retryMigration(services, id, caller.id, access_token?.trim());
      return migrationReply(services.db, id);
    },
  }),
];
