/** Feeds of projects, groups and users (docs/reference/pages.md#feeds). */
import type { Static } from 'typebox';
import { pageBelow } from '../../../access/index.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import { type FilePage, filePage, type PageCall, textIn } from '../../../pages/index.ts';
import type { EventReply } from '../../activity/events/index.ts';
import { ListedCommit, Tag } from '../../code/repository/index.ts';
import { Issue } from '../../work/issues/index.ts';
import { MergeRequestInList } from '../../work/merge_requests/index.ts';
import { Release, releasePage } from '../../work/releases/index.ts';
import { targetOf } from '../activity/views.ts';
import { projectPaths } from '../house/path_queries.ts';
import { filtersIn, listNouns, listStarts, sharedFilters } from '../issuables/list_rules.ts';
import { pathOf } from '../issuables/present.ts';
import { tagPage } from '../repository/address_rules.ts';
import { atomOf, type Entry, epoch, type Feed } from './atom_rules.ts';

/** The address of the page of a feed, which is the same without its ending. */
const pageOf = (path: string) => path.replace(/\.atom$/, '');

const feed = (path: string, read: (call: PageCall) => Promise<Pick<Feed, 'title' | 'entries'>>): FilePage =>
  filePage(path, async (call) => ({
    body: atomOf({ ...(await read(call)), page: pageOf(call.path), path: call.path }, call.services.url),
    headers: { 'content-type': 'application/atom+xml; charset=utf-8' },
  }));

const eventEntry = (project: string, event: EventReply): Entry => {
  const { kind, name, address } = targetOf(project, event);
  return {
    id: event.id,
    title: [event.author.name, event.action_name, kind, name].filter(Boolean).join(' '),
    path: address ?? pageBelow.project(project, 'activity'),
    updated: event.created_at,
    author: event.author.name,
  };
};

const newest = { order_by: 'created_at', sort: 'desc' } as const;

type Listed = Pick<Static<typeof Issue>, 'title' | 'web_url' | 'updated_at' | 'description'> & {
  author?: { name: string } | null;
  references?: { short: string };
};

const issuableEntry = ({ title, web_url, updated_at, author, description, references }: Listed): Entry => ({
  title: `${references?.short ?? ''} ${title}`.trim(),
  path: pathOf(web_url),
  updated: updated_at,
  author: author?.name,
  summary: description,
});

const issuableFeeds = (['project', 'group'] as const).flatMap((place) => [
  feed(`${listStarts[place]}/issues.atom`, async ({ list, params, query }) => {
    const asked = { state: 'opened', ...filtersIn(query, [...sharedFilters, 'state']), ...newest };
    const { items } = await list(Issue, `list${listNouns[place]}Issues`, asked);
    return { title: `Issues of ${params.id}`, entries: items.map(issuableEntry) };
  }),
  feed(`${listStarts[place]}/merge_requests.atom`, async ({ list, params, query }) => {
    const asked = { state: 'opened', ...filtersIn(query, [...sharedFilters, 'state']), ...newest };
    const { items } = await list(MergeRequestInList, `list${listNouns[place]}MergeRequests`, asked);
    return { title: `Merge requests of ${params.id}`, entries: items.map(issuableEntry) };
  }),
]);

const activityFeed = feed('/:id/-/activity.atom', async ({ described, params }) => {
  const { items } = (await described('listProjectEvents')).reply as ListPage<EventReply>;
  return { title: `Activity of ${params.id}`, entries: items.map((event) => eventEntry(params.id!, event)) };
});

const personFeed = feed('/users/:username/activity.atom', async ({ described, params, services: { db } }) => {
  const { items } = (await described('listUserEvents', { id: params.username })).reply as ListPage<EventReply>;
  const paths = await projectPaths(
    db,
    items.map(({ project_id }) => project_id),
  );
  return {
    title: `Activity of ${params.username}`,
    entries: items.map((event) => eventEntry(paths.get(event.project_id) ?? '', event)),
  };
});

const commitFeed = feed('/:id/-/commits.atom', async ({ list, params, query }) => {
  const ref_name = textIn(query, 'ref_name');
  const { items } = await list(ListedCommit, 'listCommits', ref_name === undefined ? {} : { ref_name });
  const entries = items.map(({ title, web_url, committed_date, author_name, message }) => ({
    ...{ title, path: pathOf(web_url), updated: committed_date, author: author_name, summary: message },
  }));
  return { title: `Commits of ${params.id}`, entries };
});

const tagFeed = feed('/:id/-/tags.atom', async ({ list, params }) => {
  const { items } = await list(Tag, 'listTags');
  const entries = items.map(({ name, message, commit, created_at }) => ({
    ...{ title: name, path: tagPage(params.id!, name), summary: message },
    updated: created_at ?? commit?.committed_date ?? epoch,
  }));
  return { title: `Tags of ${params.id}`, entries };
});

const releaseFeed = feed('/:id/-/releases.atom', async ({ list, params }) => {
  const { items } = await list(Release, 'listReleases');
  const entries = items.map(({ name, tag_name, description, released_at, author }) => ({
    ...{
      title: name ?? tag_name ?? '',
      path: tag_name === undefined ? pageBelow.project(params.id!, 'releases') : releasePage(params.id!, tag_name),
      updated: released_at ?? epoch,
      summary: description,
    },
    author: author?.name,
  }));
  return { title: `Releases of ${params.id}`, entries };
});

export const feedPages = [...issuableFeeds, activityFeed, personFeed, commitFeed, tagFeed, releaseFeed];
