/**
 * The destination of an entity's records: where they arrive, their users here, and the targets of references in their
 * texts.
 */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../../db/index.ts';
import type { Arrival } from '../../../../relations/index.ts';
import { ghostUser } from '../../../people/users/index.ts';
import { accountsOf, type Source as PeopleSource, peopleOf, type SourcePerson } from '../../placeholders/actions.ts';
import { destinationOf, type MigrationRow } from '../definition.ts';
import { type EntityRow, ownerOf, type StepCall } from '../step_definition.ts';
import { type Moved, movedPath, textHere } from './text_rules.ts';

/** The people of the source that an entity has described. */
async function describedPeople(db: Database, entity_id: number, source_ids?: readonly number[]) {
  const people = db
    .selectFrom('bulk_import_people')
    .select(['source_id', 'username', 'name', 'public_email'])
    .where('entity_id', '=', entity_id)
    .$if(source_ids !== undefined, (q) => q.where(isAmong('source_id', source_ids!, 'bigint[]')));
  return people.execute();
}

/** The top-level group that an entity is in. */
async function topLevelGroup(db: Database, entity: EntityRow): Promise<number> {
  const { kind, id } = ownerOf(entity);
  const namespaces =
    kind === 'group'
      ? db.selectFrom('namespaces').select('traversal_ids').where('id', '=', id)
      : db
          .selectFrom('namespaces')
          .innerJoin('projects', 'projects.namespace_id', 'namespaces.id')
          .select('traversal_ids')
          .where('projects.id', '=', id);
  return (await namespaces.executeTakeFirstOrThrow()).traversal_ids[0]!;
}

/** The source of the people; `described` holds only the given ids. */
async function peopleSource(call: StepCall, ghost_id: number): Promise<Omit<PeopleSource, 'described'>> {
  const { migration, entity, db } = call;
  return {
    host: new URL(migration.source_url).host,
    group_id: await topLevelGroup(db, entity),
    importer: { user_id: migration.user_id, source_user_id: migration.source_user_id ?? undefined },
    ghost_id,
    is_trusted: await isTrusted(db, migration),
  };
}

/**
 * Whether email addresses from a source are trusted. Anyone who runs a server can claim any address, so only an
 * administrator's migration is trusted.
 */
async function isTrusted(db: Database, { source_url, user_id }: MigrationRow): Promise<boolean> {
  const { rows } = await sql<{ is_trusted: boolean }>`
    select users.admin or ${new URL(source_url).origin} = any (application_settings.bulk_import_trusted_sources) as is_trusted
      from users, application_settings where users.id = ${user_id}`.execute(db);
  return rows[0]!.is_trusted;
}

const byId = (people: Awaited<ReturnType<typeof describedPeople>>): Map<number, SourcePerson> =>
  new Map(people.map(({ source_id, ...person }) => [source_id, person]));

type Place = Pick<EntityRow, 'source_full_path' | 'destination_namespace' | 'destination_slug'>;

const pathsOf = (entities: readonly Place[]): Map<string, string> =>
  new Map(entities.map((each) => [each.source_full_path.toLowerCase(), destinationOf(each)]));

/** Whether the contents of a group have not been listed yet. */
const isUnlisted = ({ entity_type, state, phase }: { entity_type: string; state: string; phase: number }) =>
  entity_type === 'group' && phase === 0 && (state === 'created' || state === 'started');

/** The entities of the migration, with their source paths in lower case. */
async function movedOf(call: StepCall, is_trusted: boolean): Promise<Moved> {
  const { db, migration, entity, url } = call;
  const entities = await db
    .selectFrom('bulk_import_entities')
    .select([
      'entity_type',
      'source_full_path',
      'source_id',
      'destination_namespace',
      'destination_slug',
      'state',
      'phase',
      'namespace_id',
      'project_id',
    ])
    .where('bulk_import_id', '=', migration.id)
    .execute();
  const ids = (type: string, column: 'namespace_id' | 'project_id') =>
    new Map(
      entities.flatMap((each) =>
        each.entity_type === type && each.source_id !== null && each[column] !== null
          ? [[each.source_id, each[column]] as const]
          : [],
      ),
    );
  return {
    ...{
      source_url: migration.source_url,
      url,
      place: entity.source_full_path.toLowerCase(),
      usernames: await usernamesOf(call, is_trusted),
    },
    paths: pathsOf(entities),
    groups: pathsOf(entities.filter(isUnlisted)),
    project_ids: ids('project', 'project_id'),
    group_ids: ids('group', 'namespace_id'),
  };
}

/** The usernames of people matched with accounts here, by their usernames at the source. */
async function usernamesOf({ db, entity, migration }: StepCall, is_trusted: boolean): Promise<Map<string, string>> {
  const { rows } = await sql<{ source: string; here: string }>`
    select people.username as source, users.username as here
      from bulk_import_people people
      join emails on emails.email = people.public_email::citext and emails.confirmed_at is not null
      join users on users.id = emails.user_id and users.state = 'active' and users.user_type = 'human'
     where entity_id = ${entity.id} and ${is_trusted}
    union all
    select people.username, users.username from bulk_import_people people join users on users.id = ${migration.user_id}
     where entity_id = ${entity.id} and source_id = ${migration.source_user_id}::bigint`.execute(db);
  return new Map(rows.map(({ source, here }) => [source.toLowerCase(), here]));
}

/** @throws StepFailed if the group or project was deleted */
export async function arrivalOf(call: StepCall): Promise<Arrival> {
  const { entity, migration } = call;
  const ghost_id = await ghostUser(call);
  const source = await peopleSource(call, ghost_id);
  const moved = await movedOf(call, source.is_trusted);
  const sourceFor = async (tx: Database, source_ids: readonly number[]): Promise<PeopleSource> => ({
    ...source,
    described: byId(await describedPeople(tx, entity.id, source_ids)),
  });
  const people = async (tx: Database, source_ids: readonly number[]) =>
    peopleOf(tx, await sourceFor(tx, source_ids), source_ids);
  return {
    owner: ownerOf(entity),
    importer_id: migration.user_id,
    entity_id: entity.id,
    ghost_id,
    people,
    services: call,
    is_again: call.step.is_again,
    accounts: async (tx, source_ids) => accountsOf(tx, await sourceFor(tx, source_ids), source_ids),
    path: (source_path) => movedPath(source_path, moved),
    project: (source_id) => moved.project_ids.get(source_id),
    group: (source_id) => moved.group_ids.get(source_id),
    text: (text) => textHere(text, moved),
  };
}
