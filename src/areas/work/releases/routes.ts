/** Releases: tags with a title, notes, links, milestones and evidence (docs/reference/releases.md). */
import { Type } from 'typebox';
import {
  type MaybeCaller,
  type Project,
  releaseCodeReader,
  releaseReader,
  releaseWriter,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { inAddress } from '../../../foundation/addresses.ts';
import {
  accepted,
  badRequest,
  bytes,
  ClearableList,
  checked,
  del,
  deprecated,
  filtersOn,
  get,
  Id,
  leftOutIfBlank,
  locationOf,
  longText,
  notFound,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  type Rule,
  type Services,
  Timestamp,
  withStatus,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { descriptionReasons, tooLong } from '../../../texts/index.ts';
import { pushRuleTexts } from '../../code/push_rules/index.ts';
import {
  changeRelease,
  createRelease,
  existsText,
  goneText,
  protectedText,
  refuseProtected,
  removeRelease,
} from './actions.ts';
import { collectEvidence, tooManyText } from './evidence_actions.ts';
import { presentReleases } from './git.ts';
import { LinkType, Release, type ReleaseRow } from './present.ts';
import { latestTag, missingText, releaseNamed, releasesOf, rightsIn } from './queries.ts';

export const path = '/projects/:id/releases';
export const TagName = Type.String({ description: 'Name of the tag, as one encoded part of the path' });
const WithHtml = Type.Boolean({ default: false, description: 'Whether to include `description_html`' });

const filters = filtersOn('releases', (by) => ({
  updated_before: by(Timestamp, (q, value) => q('releases.updated_at', '<=', value)),
  updated_after: by(Timestamp, (q, value) => q('releases.updated_at', '>=', value)),
}));

const Name = leftOutIfBlank(optional(checked(Type.String(), (name) => tooLong(name, 255))));

const Description = () =>
  longText(checked(nullable(Type.String({ description: 'Markdown, at most 1 MiB' })), descriptionReasons));

const shared = {
  name: Name,
  description: optional(Description()),
  released_at: optional(Timestamp),
  milestones: optional(ClearableList(Type.String({ description: 'Title, in the project or a group above it' }))),
  milestone_ids: optional(ClearableList(Id)),
};
const rules: readonly Rule[] = [
  (given) =>
    given.has('milestones') && given.has('milestone_ids')
      ? 'milestones, milestone_ids Cannot specify milestones and milestone_ids at the same time'
      : undefined,
];
const milestoneTexts = ['Milestone(s) not found: <titles>', 'Milestone id(s) not found: <ids>'];

const Link = Type.Object({
  name: Type.String(),
  url: Type.String(),
  direct_asset_path: optional(Type.String()),
  filepath: optional(deprecated('use `direct_asset_path`', Type.String())),
  link_type: optional(LinkType),
});

const input = { tag_name: TagName };

async function shownOne(
  services: Services,
  { caller, project }: { caller: MaybeCaller; project: Project },
  row: ReleaseRow,
  with_html = false,
) {
  const [release] = await presentReleases(services, [row], { caller, with_html, rights: [rightsIn(project)] });
  return release!;
}

const getRelease = get(`${path}/:tag_name`, {
  operation: 'getRelease',
  summary: 'Get a release',
  access: releaseCodeReader,
  input: { ...input, include_html_description: WithHtml },
  returns: one(Release),
  refusals: { 404: missingText },
  handle: async ({ caller, project, input: asked, ...services }) => {
    const row = await releaseNamed(services.db, project.id, asked.tag_name);
    return shownOne(services, { caller, project }, row, asked.include_html_description);
  },
});

/** A redirect to another URL. */
const redirected = withStatus(302, bytes(['text/plain'], { location: 'The other address' }));
const redirectTo = (address: string) => {
  const location = locationOf(address);
  return { body: Buffer.from(`Redirected to ${location}`), headers: { location, 'content-type': 'text/plain' } };
};

const addressOf = (url: string, project_id: number, tag: string): string =>
  `${url}/api/v4/projects/${project_id}/releases/${encodeURIComponent(tag)}`;

interface LatestAsked {
  project: Project;
  /** As sent. */
  query: string;
  suffix_path?: string;
}

/** The query for the release or for a path below it; the sort order applies to the choice of the release. */
const keptQuery = (query: string): string =>
  query
    .split('&')
    .filter((pair) => pair !== '' && pair.split('=', 1)[0] !== 'order_by')
    .join('&');

/** The URL of the latest release, or of a path below it. @throws ApiError 404 without releases */
async function latestAddress(db: Database, url: string, { project, query, suffix_path }: LatestAsked): Promise<string> {
  const address = addressOf(url, project.id, await latestTag(db, project.id));
  const rest = suffix_path === undefined ? '' : `/${inAddress(suffix_path)}`;
  const kept = keptQuery(query);
  return address + rest + (kept === '' ? '' : `?${kept}`);
}

const latest = {
  description: 'Upcoming releases count only if there is no other. The query is kept, except for `order_by`.',
  access: releaseCodeReader,
  returns: redirected,
  refusals: { 404: missingText },
};

export const releaseRoutes = [
  get(path, {
    operation: 'listReleases',
    summary: 'List the releases of a project, the latest first',
    description: 'Callers who may not read the code get neither tags, commits, sources nor evidence.',
    access: releaseReader,
    input: {
      ...filters.input,
      order_by: Type.Enum(['released_at', 'created_at'], { default: 'released_at' }),
      sort: Type.Enum(['desc', 'asc'], { default: 'desc' }),
      include_html_description: WithHtml,
      ...paging,
    },
    returns: pageOf(Release),
    handle: async ({ caller, project, input: asked, ...services }) => {
      const query = releasesOf(services.db, project.id)
        .where(filters.matching(asked))
        .orderBy(`releases.${asked.order_by}`, asked.sort)
        .orderBy('releases.id', asked.sort);
      const page = await paginate(services.db, query, asked);
      const rights = page.items.map(() => rightsIn(project));
      const shown = { caller, with_html: asked.include_html_description, rights };
      return { ...page, items: await presentReleases(services, page.items, shown) };
    },
  }),
  get(`${path}/permalink/latest`, {
    operation: 'getLatestRelease',
    summary: 'Redirect to the latest release',
    ...latest,
    input: {},
    handle: async ({ db, url, project, query }) => redirectTo(await latestAddress(db, url, { project, query })),
  }),
  get(`${path}/permalink/latest/*suffix_path`, {
    operation: 'getBelowLatestRelease',
    summary: 'Redirect to something below the latest release, such as an asset',
    ...latest,
    input: { suffix_path: Type.String({ description: 'What follows the tag' }) },
    handle: async ({ db, url, project, query, input: { suffix_path } }) =>
      redirectTo(await latestAddress(db, url, { project, query, suffix_path })),
  }),
  getRelease,
  get(`${path}/:tag_name/downloads/*direct_asset_path`, {
    operation: 'downloadReleaseAsset',
    summary: 'Redirect to the URL of the link that has a path',
    access: releaseCodeReader,
    input: { ...input, direct_asset_path: Type.String({ description: 'The path without its first slash' }) },
    returns: redirected,
    refusals: { 404: [missingText, '404 Not found'] },
    handle: async ({ db, project, input: asked }) => {
      const { links } = await releaseNamed(db, project.id, asked.tag_name);
      const link = links.find(({ filepath }) => filepath === `/${asked.direct_asset_path}`);
      if (!link) throw notFound();
      return redirectTo(new URL(link.url).href);
    },
  }),
  post(path, {
    operation: 'createRelease',
    summary: 'Create a release, and its tag if that does not exist',
    access: releaseWriter,
    input: {
      tag_name: Type.String({ description: 'Name of the tag' }),
      ...shared,
      ref: optional(Type.String({ description: 'Branch, tag or commit to make the tag from if it does not exist' })),
      tag_message: Type.String({ default: '', description: 'Makes it an annotated tag' }),
      assets: optional(Type.Object({ links: optional(Type.Array(Link)) })),
    },
    rules,
    returns: one(Release),
    refusals: {
      400: [
        'Tag name invalid',
        'Target is empty',
        'Target <ref> is invalid',
        "Failed to create tag '<name>': Tag name conflicts with existing tag hierarchy.",
        'Validation failed: Links <reason>',
        ...milestoneTexts,
        ...pushRuleTexts,
      ],
      403: protectedText,
      409: [existsText, goneText],
      422: 'Ref is not specified',
    },
    handle: async ({ caller, project, input: asked, ...services }) => {
      const { tag_name: tag, name = tag, description = null, assets, ...others } = asked;
      const links = (assets?.links ?? []).map(({ direct_asset_path, filepath, link_type = 'other', ...link }) => ({
        ...link,
        filepath: (direct_asset_path ?? filepath) || null,
        link_type,
      }));
      const { ref, tag_message, released_at, milestones, milestone_ids } = others;
      const wanted = { ref, tag_message, released_at, milestones, milestone_ids };
      await createRelease(services, { project, caller }, { tag, name, description, links, ...wanted });
      return shownOne(services, { caller, project }, await releaseNamed(services.db, project.id, tag));
    },
  }),
  put(`${path}/:tag_name`, {
    operation: 'updateRelease',
    summary: 'Change a release',
    access: releaseWriter,
    input: { ...input, ...shared },
    rules,
    returns: one(Release),
    refusals: { 400: ['params is empty', ...milestoneTexts], 403: '403 Forbidden', 404: missingText },
    handle: async ({ caller, project, input: { tag_name, ...changes }, ...services }) => {
      const row = await releaseNamed(services.db, project.id, tag_name);
      await refuseProtected(services.db, project, tag_name);
      if (Object.values(changes).every((value) => value === undefined)) throw badRequest('params is empty');
      await changeRelease(services, project, row, changes);
      return shownOne(services, { caller, project }, await releaseNamed(services.db, project.id, tag_name));
    },
  }),
  del(`${path}/:tag_name`, {
    operation: 'deleteRelease',
    summary: 'Delete a release; its tag stays',
    access: releaseWriter,
    input,
    returns: withStatus(200, one(Release)),
    refusals: { 403: '403 Forbidden', 404: missingText },
    handle: async ({ caller, project, input: { tag_name }, ...services }) => {
      const row = await releaseNamed(services.db, project.id, tag_name);
      await refuseProtected(services.db, project, tag_name);
      const shown = await shownOne(services, { caller, project }, row);
      await removeRelease(services, project, tag_name);
      return shown;
    },
  }),
  post(`${path}/:tag_name/evidence`, {
    operation: 'collectReleaseEvidence',
    summary: 'Collect evidence of a release as it is now',
    access: releaseWriter,
    input,
    returns: accepted,
    refusals: { 400: tooManyText, 403: '403 Forbidden', 404: missingText },
    handle: async ({ db, project, input: { tag_name } }) => {
      const { id } = await releaseNamed(db, project.id, tag_name);
      await refuseProtected(db, project, tag_name);
      await db.transaction().execute((tx) => collectEvidence(tx, id));
    },
  }),
];
