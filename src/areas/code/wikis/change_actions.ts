/** The effects of changed pages, by a push or through the API: events and webhooks (docs/reference/wikis.md#effects). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { type RefUpdate, readCommit } from '../../../git/index.ts';
import { ApiError } from '../../../http/index.ts';
import type { Move, RepositoryServices } from '../../../services/index.ts';
import { recordEvents } from '../../activity/events/index.ts';
import { changedPages, type PageChange } from './change_git.ts';
import { readAbout } from './content_git.ts';
import { repositoryOfWiki, type Wiki } from './git.ts';
import { type ChangedPage, tellOfPages, tellOfPush } from './hook_actions.ts';
import type { Page, Version } from './page_git.ts';
import { shownTitle } from './present.ts';
import { titleOf } from './rules.ts';

/** Further changes of a push are neither recorded nor sent to webhooks. */
const maximumChanges = 20;
const maximumMessage_chars = 1_048_576;

/** A text without characters that PostgreSQL cannot store in JSON. */
const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '');

/** The title of a page; the title for its slug is used while too many pages are being read. */
async function titleIn(version: Version, page: Page): Promise<string> {
  try {
    return storable(shownTitle(await readAbout(version, page)));
  } catch (error) {
    if (error instanceof ApiError) return titleOf(page.slug);
    throw error;
  }
}

/** The update of the branch with the pages, or of the branch that will become it with the first push. */
const moveOfPages = (moved: readonly RefUpdate[], default_branch: string): RefUpdate | undefined =>
  moved.find(({ ref }) => ref === `refs/heads/${default_branch}`) ??
  moved.find((update) => update.new !== null && update.ref.startsWith('refs/heads/'));

/**
 * Reads the changed pages from git, before the transaction.
 * @returns a function that writes the effects in a transaction that has locked the wiki's row; it takes the default branch, which the first push determines
 */
export async function followPages(
  services: RepositoryServices,
  { owner: wiki, user_id, moved }: Move<Wiki>,
): Promise<(tx: Database, default_branch: string) => Promise<void>> {
  const move = moveOfPages(moved, wiki.default_branch);
  const news = move?.new ? await newsOf(services, wiki, { from: move.old, to: move.new }) : [];
  return async (tx, default_branch) => {
    await tellOfPush(tx, wiki, user_id, moved);
    if (news.length === 0 || move?.ref !== `refs/heads/${default_branch}`) return;
    await record(tx, wiki, user_id, news);
    await tellOfPages(tx, wiki, user_id, news);
  };
}

type News = ChangedPage & Pick<PageChange, 'old_slug'>;

async function newsOf(
  services: RepositoryServices,
  wiki: Wiki,
  { from, to }: { from: string | null; to: string },
): Promise<readonly News[]> {
  const version = { repository: repositoryOfWiki(services, wiki), wiki_id: wiki.id, commit_id: to };
  const changes = (await changedPages(version.repository, { from, to })).slice(0, maximumChanges);
  const message = storable((await readCommit(version.repository, to)).message.slice(0, maximumMessage_chars));
  return Promise.all(
    changes.map(async ({ action, page, old_slug }) => ({
      action,
      message,
      version_id: to,
      title: await titleIn(version, page),
      old_slug,
      slug: page.slug,
      format: page.format,
      blob_id: page.blob_id,
    })),
  );
}

async function record(tx: Database, wiki: Wiki, author_id: number | null, news: readonly News[]): Promise<void> {
  const ids = await idsOfPages(tx, wiki.id, news);
  const about = { project_id: wiki.project_id, author_id, target_type: 'WikiPage::Meta' } as const;
  await recordEvents(
    tx,
    news.map(({ action, slug }) => ({ ...about, action, target_id: ids.get(slug)! })),
  );
}

/**
 * The rows of pages, by slug. A renamed page keeps its row, unless its new slug already has one, from an earlier page.
 * @param tx a transaction that has locked the wiki's row
 */
async function idsOfPages(tx: Database, wiki_id: number, news: readonly News[]): Promise<ReadonlyMap<string, number>> {
  const pages = sql`jsonb_to_recordset(${JSON.stringify(news)}::jsonb) as page(slug text, title text, format text, old_slug text)`;
  await sql`
    update wiki_pages set slug = page.slug from ${pages}
     where wiki_pages.wiki_id = ${wiki_id} and wiki_pages.slug = page.old_slug
       and not exists (select from wiki_pages taken where taken.wiki_id = ${wiki_id} and taken.slug = page.slug)`.execute(
    tx,
  );
  const { rows } = await sql<{ id: number; slug: string }>`
    insert into wiki_pages (wiki_id, slug, title, format) select ${wiki_id}, slug, title, format from ${pages}
        on conflict (wiki_id, slug) do update set title = excluded.title, format = excluded.format
    returning id, slug`.execute(tx);
  return new Map(rows.map(({ id, slug }) => [slug, id]));
}
