/** Wikis and their pages in webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { type Built, objectInJson, plainColumns, rowInJson } from '../../../db/index.ts';
import { slugInAddress } from '../../../foundation/addresses.ts';
import { cloneUrls, nullable, resource } from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import {
  groupRow,
  HookGroup,
  HookPerson,
  HookProject,
  personRow,
  presentPerson,
  presentProject,
  projectRow,
  text,
} from '../../activity/hooks/index.ts';
import { hookEvent, type Refs } from '../../instance/hook_events/index.ts';
import { presentUpdate, type UpdateNews, updateBody, updateParts } from '../repository/hook_present.ts';
import { wikiUrl } from './present.ts';

const HookWiki = resource('HookWiki', {
  web_url: Type.String({ format: 'uri' }),
  git_ssh_url: Type.String(),
  git_http_url: Type.String({ format: 'uri' }),
  path_with_namespace: Type.String(),
  default_branch: Type.String(),
});

const wiki = {
  ...plainColumns('wikis', ['id', 'group_id', 'default_branch']),
  full_path: sql<string>`case when wikis.group_id is null then projects.full_path else namespaces.full_path end`,
};

const wikiRow = (id: RawBuilder<number>) =>
  rowInJson(
    'wikis',
    id,
    wiki,
    sql`
      left join projects on projects.id = wikis.project_id
      join namespaces on namespaces.id = coalesce(wikis.group_id, projects.namespace_id)`,
  );

function presentHookWiki(row: Built<typeof wiki>, services: Filling): Static<typeof HookWiki> {
  const path_with_namespace = `${row.full_path}.wiki`;
  const { http, ssh } = cloneUrls(services, path_with_namespace);
  return {
    ...row,
    web_url: wikiUrl(services, row),
    git_ssh_url: ssh,
    git_http_url: http,
    path_with_namespace,
  };
}

/** A page that was changed. */
export interface PageNews {
  wiki_id: number;
  project_id: number | null;
  group_id: number | null;
  user_id: number | null;
  action: 'create' | 'update' | 'delete';
  slug: string;
  title: string;
  format: string;
  /** The content of the page; of a deleted one, as it was. */
  blob_id: string;
  /** The message and the id of the commit. */
  message: string;
  version_id: string;
}

export const wikiPageEvent = hookEvent({
  name: 'wiki_page',
  summary: 'A page of a wiki was created, changed or deleted',
  triggers: ['wiki_page_events'],
  snapshot: (news: Refs<PageNews>) => ({
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
    group: groupRow(news.group_id),
    wiki: wikiRow(news.wiki_id),
    page: objectInJson({
      action: news.action,
      slug: news.slug,
      title: news.title,
      format: news.format,
      blob_id: news.blob_id,
      message: news.message,
      version_id: news.version_id,
    }),
  }),
  body: resource('WikiPageHookBody', {
    object_kind: Type.Literal('wiki_page'),
    user: nullable(HookPerson),
    project: nullable(HookProject),
    group: nullable(HookGroup),
    wiki: HookWiki,
    object_attributes: Type.Object({
      slug: Type.String(),
      title: Type.String(),
      format: Type.String(),
      message: Type.String(),
      version_id: Type.String(),
      content: nullable(Type.String()),
      url: Type.String({ format: 'uri' }),
      action: Type.Enum(['create', 'update', 'delete']),
      diff_url: Type.String({ format: 'uri' }),
    }),
  }),
}).presentedBy(async ({ user, project, group, wiki: row, page }, services) => {
  const url = `${wikiUrl(services, row)}/${slugInAddress(page.slug)}`;
  const content = await text(services, { kind: 'wiki', id: row.id, blob_id: page.blob_id });
  return {
    object_kind: 'wiki_page',
    user: user && presentPerson(user, services),
    project: project && presentProject(project, services),
    group,
    wiki: presentHookWiki(row, services),
    object_attributes: { ...page, content, url, diff_url: `${url}/diff?version_id=${page.version_id}` },
  };
});

type WikiUpdateNews = UpdateNews & { wiki_id: number; group_id: number | null };

export const wikiUpdateEvent = hookEvent({
  name: 'wiki_update',
  summary: 'A push to a wiki has moved branches or tags; one event for all of them',
  triggers: ['repository_update_events'],
  snapshot: (news: Refs<WikiUpdateNews>) => ({
    ...updateParts(news),
    group: groupRow(news.group_id),
    wiki: wikiRow(news.wiki_id),
  }),
  body: updateBody('WikiUpdateHookBody', { group: nullable(HookGroup), wiki: HookWiki }),
}).presentedBy(({ group, wiki: row, ...update }, services) => ({
  ...presentUpdate(update, services),
  group,
  wiki: presentHookWiki(row, services),
}));
