/** Changes of which jobs get into a project (docs/reference/job_tokens.md#other-projects). */
import type { Database } from '../../../db/index.ts';
import { badRequest, found } from '../../../http/index.ts';

const mostEntries = 200;
export const tooManyText = `The job token allowlist can have at most ${mostEntries} entries of a kind.`;

/** One of the two lists of a project. */
interface List {
  table: 'job_token_projects' | 'job_token_groups';
  column: 'allowed_id' | 'group_id';
  taken: string;
}

export const projectList = {
  table: 'job_token_projects',
  column: 'allowed_id',
  taken: 'This project is already in the job token allowlist.',
} as const satisfies List;

export const groupList = {
  table: 'job_token_groups',
  column: 'group_id',
  taken: 'This group is already in the job token allowlist.',
} as const satisfies List;

/** @throws ApiError 400 if it is there, or the list is full */
export async function allow(db: Database, { table, column, taken }: List, project_id: number, id: number) {
  await db.transaction().execute(async (tx) => {
    // Locked, so that requests at the same time cannot exceed the limit together.
    await tx.selectFrom('projects').select('id').where('id', '=', project_id).forNoKeyUpdate().executeTakeFirst();
    const { count } = await tx
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('project_id', '=', project_id)
      .executeTakeFirstOrThrow();
    if (count >= mostEntries) throw badRequest(tooManyText);
    const added = await tx
      .insertInto(table)
      .values({ project_id, [column]: id })
      .onConflict((conflicting) => conflicting.doNothing())
      .returning('project_id')
      .executeTakeFirst();
    if (!added) throw badRequest(taken);
  });
}

/** @throws ApiError 404 if it is not there */
export async function disallow(db: Database, { table, column }: List, project_id: number, id: number): Promise<void> {
  const query = db
    .deleteFrom(table)
    .where('project_id', '=', project_id)
    .where(column as never, '=', id as never);
  found(undefined, await query.returning('project_id').executeTakeFirst());
}
