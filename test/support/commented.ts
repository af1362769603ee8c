/** Shared fixtures for tests of comments on commits. */
import { type Change, updateRefs, writeCommit } from '../../src/git/index.ts';
import { repositoryIn } from './repository.ts';
import { type World, world } from './world.ts';

const put = (path: string, text: string): Change => ({ op: 'put', path, mode: '100644', content: Buffer.from(text) });

export interface Commented extends World {
  /** The first commit, and the one that `main` is at. */
  first: string;
  second: string;
  /** The address of the second commit. */
  at: string;
}

/** A world with two commits; the second changes a text, moves one, and adds an image. */
export async function commented(): Promise<Commented> {
  const here = await world();
  const repository = repositoryIn(here);
  const person = { name: 'Ada', email: 'ada@example.com', date: new Date('2025-01-01T00:00:00Z') };
  const commit = async (parent: string | null, changes: Change[]) =>
    (await writeCommit(repository, { parent, message: 'Sow the beans\n', author: person, committer: person, changes }))
      .id;
  const text = Array.from({ length: 20 }, (_, line) => `line ${line + 1}\n`).join('');
  const first = await commit(null, [put('beans.txt', text), put('old.txt', text)]);
  const second = await commit(first, [
    put('beans.txt', text.replace('line 2\n', 'line two\nline two and a half\n')),
    { op: 'move', from: 'old.txt', path: 'new.txt', content: Buffer.from(`${text}line 21\n`) },
    { op: 'put', path: 'bean.png', mode: '100644', content: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]) },
  ]);
  await updateRefs(repository, [{ ref: 'refs/heads/main', old: null, new: second }]);
  return { ...here, first, second, at: `/projects/${here.project.id}/repository/commits/${second}` };
}

/** The commits that a position on the second one has. */
export const refsOf = ({ first, second }: Commented) => ({ base_sha: first, start_sha: first, head_sha: second });

/** How many comments the project has on its commits. */
export const notesIn = async ({ db, project }: World): Promise<number> =>
  (
    await db
      .selectFrom('notes')
      .select((q) => q.fn.countAll<number>().as('count'))
      .where('project_id', '=', project.id)
      .executeTakeFirstOrThrow()
  ).count;
