/** How releases appear in replies (docs/reference/releases.md). */
import { type Static, Type } from 'typebox';
import { commitKind } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import { Id, nullable, optional, resource, Timestamp } from '../../../http/index.ts';
import { archivePage, Commit } from '../../code/repository/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow } from '../../people/users/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { linkTypes } from './rules.ts';

export const LinkType = Type.Enum(linkTypes);

export const ReleaseLink = resource('ReleaseLink', {
  id: Id,
  name: Type.String(),
  url: Type.String(),
  direct_asset_url: Type.String({ description: 'An address of the release that redirects to `url`, if it has a path' }),
  link_type: LinkType,
});

const ReleaseMilestone = resource('ReleaseMilestone', {
  ...Milestone.properties,
  issue_stats: Type.Object({ total: Type.Integer(), closed: Type.Integer() }),
});

const Address = optional(Type.String());

/** Callers who may not read the code get neither the tag nor anything derived from it. */
export const Release = resource('Release', {
  name: Type.String(),
  tag_name: optional(Type.String()),
  description: nullable(Type.String()),
  description_html: optional(Type.String({ description: 'With `include_html_description`' })),
  created_at: Timestamp,
  released_at: Timestamp,
  upcoming_release: Type.Boolean({ description: 'Whether `released_at` is in the future' }),
  author: optional(nullable(UserBasic)),
  commit: optional(nullable(Commit)),
  milestones: optional(Type.Array(ReleaseMilestone)),
  commit_path: Address,
  tag_path: Address,
  assets: optional(
    Type.Object({
      count: Type.Integer(),
      sources: optional(Type.Array(Type.Object({ format: Type.String(), url: Type.String() }))),
      links: Type.Array(ReleaseLink),
    }),
  ),
  evidences: optional(
    Type.Array(
      Type.Object({
        sha: Type.String({ description: 'SHA-256 of the file' }),
        filepath: Type.String({ description: 'Its address' }),
        collected_at: Timestamp,
      }),
    ),
  ),
  _links: optional(
    Type.Object({
      closed_issues_url: Address,
      closed_merge_requests_url: Address,
      edit_url: Address,
      merged_merge_requests_url: Address,
      opened_issues_url: Address,
      opened_merge_requests_url: Address,
      self: Address,
    }),
  ),
});

/** A link in rows of `releaseRows`. */
export interface LinkRow {
  id: number;
  name: string;
  url: string;
  filepath: string | null;
  link_type: (typeof linkTypes)[number];
}

/** A row of `releaseRows`. */
export interface ReleaseRow {
  id: number;
  project_id: number;
  tag: string;
  name: string;
  description: string | null;
  created_at: string;
  released_at: string;
  upcoming: boolean;
  author: UserBasicRow | null;
  links: LinkRow[];
  milestone_ids: number[];
  evidences: { id: number; sha: string; collected_at: string }[];
  /** The path of its project. */
  path: string;
  full_path: string;
  storage: string;
}

/** Which parts of a release the reader may see, besides its notes. */
export interface ReleaseRights {
  reads_code: boolean;
  reads_milestones: boolean;
  may_edit: boolean;
}

const releasesPage = pagePath('/:project/-/releases');
const tagPage = pagePath('/:project/-/tags/:tag');
const listPages = { issues: pagePath('/:project/-/issues'), merge_requests: pagePath('/:project/-/merge_requests') };
/** A tag is encoded as a single path segment, whatever its name. */
export const releasePage = (full_path: string, tag: string): string =>
  `${releasesPage(full_path)}/${encodeURIComponent(tag)}`;

const formats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;

/** The paths of the archives of a tag, by format. */
export const sourcePaths = ({ full_path, path, tag }: Pick<ReleaseRow, 'full_path' | 'path' | 'tag'>) =>
  formats.map((format) => ({
    format,
    path: archivePage(full_path, tag, `${path}-${tag.replaceAll('/', '-')}.${format}`),
  }));

/**
 * @param url the external address of the server
 * @param reads_code whether the caller may use the URL below the release
 */
export function presentLink(
  url: string,
  { full_path, tag }: Pick<ReleaseRow, 'full_path' | 'tag'>,
  { filepath, ...link }: LinkRow,
  reads_code = true,
): Static<typeof ReleaseLink> {
  const isOwn = filepath !== null && reads_code;
  return {
    ...link,
    direct_asset_url: isOwn ? `${url}${releasePage(full_path, tag)}/downloads${filepath}` : link.url,
  };
}

/** Lists of the items in its milestones, by the member that links to them. */
const lists = {
  closed_issues_url: ['issues', 'closed'],
  closed_merge_requests_url: ['merge_requests', 'closed'],
  merged_merge_requests_url: ['merge_requests', 'merged'],
  opened_issues_url: ['issues', 'opened'],
  opened_merge_requests_url: ['merge_requests', 'opened'],
} as const;

function linksOf(url: string, { full_path, tag }: ReleaseRow, { reads_code, may_edit }: ReleaseRights) {
  if (!reads_code) return {};
  const page = url + releasePage(full_path, tag);
  const query = `release_tag=${encodeURIComponent(tag)}&scope=all&state=`;
  const listed = Object.entries(lists).map(([member, [noun, state]]) => [
    member,
    `${url}${listPages[noun](full_path)}?${query}${state}`,
  ]);
  return { self: page, ...(may_edit ? { edit_url: `${page}/edit` } : {}), ...Object.fromEntries(listed) };
}

/** Data of a release besides its row. */
export interface ReleaseParts {
  description_html: string | undefined;
  commit: Static<typeof Commit> | null;
  milestones: Static<typeof ReleaseMilestone>[];
}

/** The members that do not reveal the tag. */
export const presentBasic = (row: ReleaseRow) => ({
  name: row.name,
  description: row.description,
  created_at: row.created_at,
  released_at: row.released_at,
  upcoming_release: row.upcoming,
});

function codeMembers(url: string, row: ReleaseRow, { commit }: ReleaseParts) {
  const { full_path, tag } = row;
  const page = releasePage(full_path, tag);
  return {
    tag_name: tag,
    commit,
    ...(commit ? { commit_path: commitKind.page(full_path, commit.id) } : {}),
    tag_path: tagPage(full_path, tag),
    evidences: row.evidences.map(({ id, sha, collected_at }) => ({
      sha,
      filepath: `${url}${page}/evidences/${id}.json`,
      collected_at,
    })),
  };
}

/** @param url the external address of the server */
export function presentRelease(
  url: string,
  row: ReleaseRow,
  rights: ReleaseRights,
  parts: ReleaseParts,
): Static<typeof Release> {
  const { reads_code } = rights;
  const links = row.links.map((link) => presentLink(url, row, link, reads_code));
  const sources = reads_code
    ? sourcePaths(row).map(({ format, path }) => ({ format: format as string, url: url + path }))
    : [];
  return {
    ...presentBasic(row),
    ...(parts.description_html === undefined ? {} : { description_html: parts.description_html }),
    author: row.author && presentUserBasic(url, row.author),
    ...(parts.milestones.length > 0 ? { milestones: parts.milestones } : {}),
    ...(reads_code ? codeMembers(url, row, parts) : {}),
    assets: { count: links.length + sources.length, ...(reads_code ? { sources } : {}), links },
    _links: linksOf(url, row, rights),
  };
}
