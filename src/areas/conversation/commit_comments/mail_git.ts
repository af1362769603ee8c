/** Commits in mail about comments on them. */
import type { DiscussedCommit } from '../../../access/index.ts';
import { type Commit, readCommit, repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { JobServices, MailSubject } from '../../../services/index.ts';
import { noParticipants, readersOf } from '../../activity/notifications/index.ts';
import { ownersOfAddresses } from '../../people/emails/index.ts';

/** The commit, unless it is no longer in its repository. */
async function commitOf(
  { storages }: Pick<JobServices, 'storages'>,
  on: DiscussedCommit,
  storage: string,
): Promise<Commit | undefined> {
  const repository = repositoryOf({ storages }, { id: on.project_id, storage });
  const id = await resolveCommit(repository, on.sha);
  return id === undefined ? undefined : readCommit(repository, id);
}

/** The user with the confirmed email address of a commit's author. */
async function authorsOf(
  { db, storages }: Pick<JobServices, 'db' | 'storages'>,
  on: DiscussedCommit,
): Promise<number[]> {
  const project = await db
    .selectFrom('projects')
    .select('storage')
    .where('id', '=', on.project_id)
    .executeTakeFirstOrThrow();
  const commit = await commitOf({ storages }, on, project.storage);
  if (!commit) return [];
  return (await ownersOfAddresses(db, [commit.author_email])).map(({ user_id }) => user_id);
}

export const commitMail = (on: DiscussedCommit): MailSubject => ({
  ...readersOf(on),
  participants: noParticipants,
  people: {},
  authors: (services) => authorsOf(services, on),
  async describe(services, { full_path, storage }) {
    const commit = await commitOf(services, on, storage!);
    if (!commit) return undefined;
    const [label, page] = [on.sha.slice(0, 8), on.kind.page(full_path, on.sha)];
    return {
      name: 'commit',
      label,
      title: commit.title,
      description: null,
      thread: `commit_${on.sha}`,
      page,
      facts: { 'Commit-ID': on.sha },
    };
  },
});
