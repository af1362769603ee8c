/** Pipelines in mail. */
import { sql } from 'kysely';
import { isUserOfProject, levels, readsCode } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { MailItem, MailPlace, RepositoryServices } from '../../../services/index.ts';
import { inProject, mailTarget, noParticipants } from '../../activity/notifications/index.ts';
import { ownersOfAddresses } from '../../people/emails/index.ts';
import { pipelinePage } from './present.ts';

const rowOf = (db: Database, id: number) =>
  db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select(['pipelines.ref', 'pipelines.sha', 'pipelines.status', 'projects.id as project_id', 'projects.storage'])
    .where('pipelines.id', '=', id)
    .executeTakeFirst();

async function describe(db: Database, id: number, { full_path }: MailPlace): Promise<MailItem | undefined> {
  const row = await rowOf(db, id);
  if (!row) return undefined;
  return {
    name: 'pipeline',
    label: `#${id}`,
    title: row.ref,
    description: null,
    thread: `pipeline_${id}`,
    page: pipelinePage(full_path, id),
    facts: { 'Pipeline-Id': id, 'Pipeline-Ref': row.ref, 'Pipeline-Status': row.status },
    details: [['Commit', row.sha]],
  };
}

/** The author of the commit, found by a confirmed address. */
async function authorsOf({ db, storages }: Pick<RepositoryServices, 'db' | 'storages'>, id: number): Promise<number[]> {
  const row = await rowOf(db, id);
  if (!row) return [];
  const repository = repositoryOf({ storages }, { id: row.project_id, storage: row.storage });
  const sha = await resolveCommit(repository, row.sha);
  if (sha === undefined) return [];
  const { author_email } = await readCommit(repository, sha);
  return (await ownersOfAddresses(db, [author_email])).map(({ user_id }) => user_id);
}

/** A message names the commit, so recipients must be allowed to read pipelines and code. */
const isReader = sql<boolean>`(
  ${readsCode}
  and (users.admin or projects.visibility <> 'private' or projects.public_jobs or ${isUserOfProject(levels.reporter)}))`;

export const pipelineMail = mailTarget('Pipeline', (id) => ({
  ...inProject('pipelines', id, isReader),
  participants: noParticipants,
  people: {},
  authors: (services) => authorsOf(services, id),
  describe: ({ db }, place) => describe(db, id, place),
}));
