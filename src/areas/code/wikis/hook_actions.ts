/** Webhook events for wikis and their pages (docs/reference/hooks.md#wikis). */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { slugInAddress } from '../../../foundation/addresses.ts';
import { type RefUpdate, readCommit } from '../../../git/index.ts';
import { groupFacts, hole, pathInSql, personFacts, projectFacts, type Sample } from '../../activity/hooks/index.ts';
import { hooksAsking, tellEach } from '../../instance/hook_events/index.ts';
import { tellOfUpdate } from '../repository/hook_actions.ts';
import type { PageChange } from './change_git.ts';
import { readAbout } from './content_git.ts';
import { versionOf, type Wiki, wikiOf } from './git.ts';
import { type Page, pagesOf } from './page_git.ts';
import { groupWikiPage, projectWikiPage, shownTitle } from './present.ts';

/** The webhook data of a page. */
export interface PageNews extends Pick<PageChange, 'action'>, Omit<Page, 'path'> {
  title: string;
  /** The commit message. */
  message: string;
  /** The id of the commit. */
  version_id: string;
}

const actions = { created: 'create', updated: 'update', destroyed: 'delete' } as const;

/** The path in the web URL of a wiki, for a row of `wikis` joined with its project or group. */
const page = sql`case when wikis.group_id is null then ${pathInSql(projectWikiPage, sql`projects.full_path`)} else ${pathInSql(groupWikiPage, sql`namespaces.full_path`)} end`;

/** A wiki, for such a row. */
const wikiFacts = hole(
  'wiki',
  sql`json_build_object(
  'page', ${page}, 'full_path', case when wikis.group_id is null then projects.full_path else namespaces.full_path end, 'default_branch', wikis.default_branch)`,
);

const fromWiki = sql`
  from wikis left join projects on projects.id = wikis.project_id
  join namespaces on namespaces.id = coalesce(wikis.group_id, projects.namespace_id)`;

/** Changed pages of a wiki, each with the columns that `pageFacts` needs. */
const rowsOf = (wiki: Wiki, news: readonly PageNews[]): RawBuilder<unknown> => sql`
  select wikis.project_id, wikis.group_id, namespaces.traversal_ids as group_ids, ${wikiFacts} as wiki, wikis.id as wiki_id,
         ${page} || '/' || changed.address as page, changed.*
    ${fromWiki}, jsonb_to_recordset(${JSON.stringify(
      news.map((one) => ({ ...one, action: actions[one.action], address: slugInAddress(one.slug) })),
    )}::jsonb) as changed(action text, slug text, address text, title text, format text, blob_id text, message text, version_id text)
   where wikis.id = ${wiki.id}`;

const pageFacts = (user_id: number | null): RawBuilder<unknown> => sql`json_build_object(
  'object_kind', 'wiki_page', 'user', ${personFacts(sql`${user_id}::bigint`)}, 'project', ${projectFacts(sql`news.project_id`)},
  'group', ${groupFacts(sql`news.group_id`)}, 'wiki', news.wiki,
  'object_attributes', json_build_object(
    'slug', news.slug, 'title', news.title, 'format', news.format, 'message', news.message, 'version_id', news.version_id,
    'content', ${hole('text', sql`json_build_object('kind', 'wiki', 'id', news.wiki_id, 'blob_id', news.blob_id)`)},
    'url', ${hole('url', sql`news.page`)}, 'action', news.action,
    'diff_url', ${hole('url', sql`news.page || '/diff?version_id=' || news.version_id`)}))`;

/** @param tx the transaction of the other effects */
export const tellOfPages = (
  tx: Database,
  wiki: Wiki,
  user_id: number | null,
  news: readonly PageNews[],
): Promise<void> =>
  tellEach(tx, { trigger: 'wiki_page_events', to_system: false, rows: rowsOf(wiki, news), facts: pageFacts(user_id) });

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
  await tellOfUpdate(tx, await hooksAsking(tx, place, ['repository_update_events']), moved, {
    members: sql`'project_id', wikis.project_id, 'project', ${projectFacts(sql`wikis.project_id`)}, 'group', ${groupFacts(sql`wikis.group_id`)}, 'wiki', ${wikiFacts}`,
    from: sql`${fromWiki} left join users on users.id = ${user_id}::bigint where wikis.id = ${wiki.id}`,
  });
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
  return sql`(select ${pageFacts(user_id)} from (${rowsOf(wiki, [news])}) news)`;
};
