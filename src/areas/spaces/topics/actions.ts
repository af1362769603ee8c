/**
 * Changes of topics, which also update their projects. A trigger on projects maintains the project count of each topic.
 */
import { type RawBuilder, sql } from 'kysely';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { badRequest, found, invalid } from '../../../http/index.ts';

export interface TopicChanges {
  name?: string | undefined;
  title?: string | undefined;
  description?: string | null | undefined;
}

export const identicalText = 'The source topic and the target topic are identical.';

/** @throws ApiError 400 when another topic has the name */
async function write<T>(statement: Promise<T>): Promise<T> {
  try {
    return await statement;
  } catch (error) {
    if (isUniqueViolation(error, 'topics_name_key')) throw invalid({ name: ['has already been taken'] });
    throw error;
  }
}

/**
 * @param tx a transaction
 * @returns the ID
 */
export async function createTopic(
  tx: Database,
  topic: TopicChanges & { name: string; title: string },
): Promise<number> {
  const { id } = await write(tx.insertInto('topics').values(topic).returning('id').executeTakeFirstOrThrow());
  return id;
}

/**
 * The name of a topic, locked.
 * @throws ApiError 404
 */
async function nameOf(tx: Database, id: number): Promise<string> {
  const { name } = found(
    undefined,
    await tx.selectFrom('topics').select('name').where('id', '=', id).forUpdate().executeTakeFirst(),
  );
  return name;
}

/** Replaces a topic in all projects that have it. */
const changeProjects = (tx: Database, name: string, topics: RawBuilder<string[]>) =>
  tx.updateTable('projects').set({ topics }).where(sql<boolean>`topics @> array[${name}::text]`).execute();

/**
 * Changes the given columns of a topic; a new name also replaces the old one in projects.
 * @param tx a transaction
 * @throws ApiError 400, 404
 */
export async function changeTopic(tx: Database, id: number, changes: TopicChanges): Promise<void> {
  const before = await nameOf(tx, id);
  if (Object.keys(changes).length === 0) return;
  await write(tx.updateTable('topics').set(changes).where('id', '=', id).execute());
  const { name = before } = changes;
  if (name === before) return;
  await changeProjects(tx, before, sql`array_replace(topics, ${before}::text, ${name}::text)`);
  // The trigger has counted each project that was given the new name, in addition to the topic's existing count.
  await sql`
    update topics
       set (total_projects_count, public_projects_count, shown_projects_count) = (
             select count(*), count(*) filter (where visibility = 'public'), count(*) filter (where visibility <> 'private')
               from projects where projects.topics @> array[${name}::text])
     where id = ${id}`.execute(tx);
}

/** @throws ApiError 404 */
export function deleteTopic(db: Database, id: number): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const name = await nameOf(tx, id);
    await changeProjects(tx, name, sql`array_remove(topics, ${name}::text)`);
    await tx.deleteFrom('topics').where('id', '=', id).execute();
  });
}

/**
 * Moves the projects of one topic to another, and deletes the first.
 * @throws ApiError 400 for one topic given twice, 404
 */
export function mergeTopics(
  db: Database,
  { source_id, target_id }: { source_id: number; target_id: number },
): Promise<void> {
  if (source_id === target_id) throw badRequest(identicalText);
  return db.transaction().execute(async (tx) => {
    const [source, target] = [await nameOf(tx, source_id), await nameOf(tx, target_id)];
    await changeProjects(tx, source, sql`array_replace(topics, ${source}::text, ${target}::text)`);
    await tx.deleteFrom('topics').where('id', '=', source_id).execute();
  });
}
