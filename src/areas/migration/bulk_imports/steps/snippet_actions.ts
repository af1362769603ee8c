/** The repositories of snippets: the relation `snippets` contains only their current files, and git their history. */
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Database } from '../../../../db/index.ts';
import { createRepository, type FetchedRefs } from '../../../../git/index.ts';
import { fillSnippet } from '../../../code/snippets/index.ts';
import { inStep, record } from '../journal_actions.ts';
import { fileOf } from '../source/export_queries.ts';
import { isAbsent, listedIfShown, pathAtSource, SourceFailure } from '../source/queries.ts';
import { ownerOf, type Step, type StepCall, StepFailed, type StepFailure } from '../step_definition.ts';
import { fetchFromSource } from './git_actions.ts';

const relation = 'snippet_repositories';

/** The imported snippets of a project. */
const arrivedSnippets = (db: Database, project_id: number) =>
  db
    .selectFrom('snippets')
    .select(['id', 'storage', 'branch', 'title', 'created_at', 'updated_at'])
    .where('project_id', '=', project_id)
    .where('imported_from', '=', 'gitlab_migration')
    .orderBy('id')
    .execute();

type ArrivedSnippet = Awaited<ReturnType<typeof arrivedSnippets>>[number];

interface Pair {
  snippet: ArrivedSnippet;
  /** The URL of its repository at the source. */
  url: string;
}

const keyOf = (title: unknown, created_at: unknown) => `${new Date(String(created_at)).getTime()} ${title}`;

/** The URL of a repository to which the token may be sent. */
function urlIn({ http_url_to_repo }: Record<string, unknown>, { source }: StepCall): string | undefined {
  const [url, own] = [URL.parse(String(http_url_to_repo)), new URL(source.url)];
  return url?.origin === own.origin && url.username === '' && url.search === '' ? url.href : undefined;
}

/**
 * The snippets here, with the URLs of their repositories at the source. Snippets with the same title and time are
 * paired in order.
 */
async function pairsOf(call: StepCall): Promise<Pair[]> {
  const { db, entity, source } = call;
  const there = await Array.fromAsync(listedIfShown(source, `${pathAtSource(entity)}/snippets`));
  const byKey = Map.groupBy(
    there.toSorted((one, other) => Number(one.id) - Number(other.id)),
    ({ title, created_at }) => keyOf(title, created_at),
  );
  return (await arrivedSnippets(db, ownerOf(entity).id)).flatMap((snippet) => {
    const found = byKey.get(keyOf(snippet.title, snippet.created_at))?.shift();
    const url = found && urlIn(found, call);
    return url === undefined ? [] : [{ snippet, url }];
  });
}

/** The tip of the branch with the files: other servers do not state a snippet's default branch. */
function tipOf({ refs }: FetchedRefs): string | undefined {
  const heads = [...refs].filter(([ref]) => ref.startsWith('refs/heads/'));
  return refs.get('refs/heads/main') ?? refs.get('refs/heads/master') ?? heads[0]?.[1];
}

/** @returns the reason if the history was not copied */
async function fillOne(call: StepCall, { snippet, url }: Pair): Promise<string | undefined> {
  const folder = fileOf(call, 'snippet');
  await rm(folder, { recursive: true, force: true });
  try {
    const fetched = await createRepository(path.join(folder, 'snippet.git'), { defaultBranch: 'main' });
    const tip = tipOf(await fetchFromSource(call, url, fetched));
    return tip === undefined ? undefined : (await fillSnippet(call, snippet, fetched, tip))[0];
  } catch (error) {
    if (isAbsent(error)) return undefined;
    if (error instanceof SourceFailure || error instanceof StepFailed) return error.message;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const failure = (message: string, title: string): StepFailure => ({
  relation,
  step: 'loader',
  exception_class: 'InvalidRecord',
  title,
  url: null,
  message: `Only the last files are here. ${message}`,
});

export const snippetRepositoriesStep: Step = {
  name: relation,
  async run(call) {
    const { db, step } = call;
    const pairs = await pairsOf(call);
    for (const pair of pairs.filter(({ snippet }) => snippet.id > step.line)) {
      const refusal = await fillOne(call, pair);
      await inStep(db, step.id, (tx, row) =>
        record(tx, call, row, {
          line: pair.snippet.id,
          source: pairs.length,
          counts: { [relation]: { fetched: 1, imported: refusal === undefined ? 1 : 0 } },
          failures: refusal === undefined ? [] : [failure(refusal, pair.snippet.title)],
        }),
      );
      if (call.isOverdue()) return { wait_s: 0 };
    }
    return pairs.length === 0 ? 'skipped' : 'finished';
  },
};
