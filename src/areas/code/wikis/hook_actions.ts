/** Webhook events for wikis and their pages (docs/reference/hooks.md#wikis). */
import { sql } from 'kysely';
import { type Database, plainColumns } from '../../../db/index.ts';
import { type RefUpdate, readCommit } from '../../../git/index.ts';
import { type Sample, sampled } from '../../activity/hooks/index.ts';
import { hooksAsking, newsOf, tellEach } from '../../instance/hook_events/index.ts';
import { tellOfUpdate } from '../repository/hook_actions.ts';
import type { PageChange } from './change_git.ts';
import { readAbout } from './content_git.ts';
import { versionOf, type Wiki, wikiOf } from './git.ts';
import { type PageNews, wikiPageEvent, wikiUpdateEvent } from './hook_present.ts';
import { type Page, pagesOf } from './page_git.ts';
import { shownTitle } from './present.ts';

/** The webhook data of a page. */
export interface ChangedPage extends Pick<PageChange, 'action'>, Omit<Page, 'path'> {
  title: string;
  /** The commit message. */
  message: string;
  /** The id of the commit. */
  version_id: string;
}

const actions = { created: 'create', updated: 'update', destroyed: 'delete' } as const;

/** The columns of a wiki by which its news are told. */
const ofWiki = {
  wiki_id: sql<number>`wikis.id`,
  ...plainColumns('wikis', ['project_id', 'group_id']),
};

/** The news of pages of a wiki. */
const newsOfPages = (wiki: Wiki, user_id: number | null, pages: readonly ChangedPage[]) =>
  newsOf(
    {
      ...ofWiki,
      group_ids: sql<number[]>`namespaces.traversal_ids`,
      user_id: sql<number | null>`${user_id}::bigint`,
      action: sql<PageNews['action']>`changed.action`,
      slug: sql<string>`changed.slug`,
      title: sql<string>`changed.title`,
      format: sql<string>`changed.format`,
      blob_id: sql<string>`changed.blob_id`,
      message: sql<string>`changed.message`,
      version_id: sql<string>`changed.version_id`,
    },
    sql`
      from wikis left join projects on projects.id = wikis.project_id
      join namespaces on namespaces.id = coalesce(wikis.group_id, projects.namespace_id),
      jsonb_to_recordset(${JSON.stringify(pages.map((page) => ({ ...page, action: actions[page.action] })))}::jsonb)
        as changed(action text, slug text, title text, format text, blob_id text, message text, version_id text)
     where wikis.id = ${wiki.id}`,
  );

/** @param tx the transaction of the other effects */
export const tellOfPages = (
  tx: Database,
  wiki: Wiki,
  user_id: number | null,
  pages: readonly ChangedPage[],
): Promise<void> => tellEach(tx, wikiPageEvent, newsOfPages(wiki, user_id, pages));

/**
 * Adds events for system hooks: references of a wiki have moved.
 * @param tx the transaction of the other effects
 */
export async function tellOfPush(
  tx: Database,
  wiki: Wiki,
  user_id: number | null,
  moved: readonly RefUpdate[],
): Promise<void> {
  const place = wiki.project_id === null ? { group_id: wiki.group_id! } : { project_id: wiki.project_id };
  const asking = await hooksAsking(tx, place, ['repository_update_events']);
  await tellOfUpdate(tx, asking, moved, wikiUpdateEvent, (changes) =>
    newsOf(
      { ...ofWiki, user_id: sql<number | null>`users.id`, changes },
      sql`from wikis left join users on users.id = ${user_id}::bigint where wikis.id = ${wiki.id}`,
    ),
  );
}

/** The first page of a project's wiki, as if it had been created. */
export const sampleWikiPage: Sample = async (services, { project_id, user_id }) => {
  const isOn = services.db
    .selectFrom('projects')
    .select('id')
    .where('id', '=', project_id)
    .where('wiki_access_level', '<>', 'disabled');
  const wiki = (await isOn.executeTakeFirst()) && (await wikiOf(services.db, { project_id, group_id: null }));
  const version = wiki && (await versionOf(services, wiki));
  const [first] = version ? await pagesOf(version) : [];
  if (!wiki || !version || !first) return undefined;
  const [{ message }, title] = await Promise.all([
    readCommit(version.repository, version.commit_id),
    readAbout(version, first).then(shownTitle),
  ]);
  const news = { ...first, action: 'created', title, message, version_id: version.commit_id } as const;
  return sampled(wikiPageEvent, newsOfPages(wiki, user_id, [news]));
};
