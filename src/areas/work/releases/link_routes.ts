/** The links of releases (docs/reference/releases.md#links). */
import { type Static, type TObject, Type } from 'typebox';
import { type Project, releaseReader, releaseWriter } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  atLeastOneOf,
  del,
  deleteFound,
  deprecated,
  found,
  get,
  Id,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { refuseProtected, refusingTaken, takenTexts, tellOfRelease } from './actions.ts';
import { type LinkRow, LinkType, presentLink, ReleaseLink, type ReleaseRow } from './present.ts';
import { missingText, releaseNamed, rightsIn } from './queries.ts';
import { path as releases, TagName } from './routes.ts';
import { type LinkFields, linkReasons, maximumLinks } from './rules.ts';

const path = `${releases}/:tag_name/assets/links` as const;

const optionals = {
  direct_asset_path: optional(
    nullable(
      Type.String({ description: 'Path below `downloads` of the release, with a slash before it; blank for none' }),
    ),
  ),
  filepath: optional(deprecated('use `direct_asset_path`', nullable(Type.String()))),
  link_type: optional(LinkType),
};
type Optionals = Static<TObject<typeof optionals>>;

/** The columns for the given parameters. */
const given = ({ direct_asset_path, filepath, link_type }: Optionals) => {
  const at = direct_asset_path === undefined ? filepath : direct_asset_path;
  return { ...(at === undefined ? {} : { filepath: at || null }), ...(link_type === undefined ? {} : { link_type }) };
};

const capitalized = (field: string) => field.charAt(0).toUpperCase() + field.slice(1);

/** @throws ApiError 400 with sentences */
function refuseInvalid(link: LinkFields): void {
  const reasons = linkReasons(link).map(([field, reason]) => `${capitalized(field)} ${reason}`);
  if (reasons.length > 0) throw new ApiError(400, { message: reasons });
}

const tooMany = `Release has too many links (maximum is ${maximumLinks})`;
const linkTexts = [
  "Name can't be blank",
  'Name is too long (maximum is <number> characters)',
  "Url can't be blank",
  'Url is too long (maximum is <number> characters)',
  'Url is blocked: <reason>',
  'Filepath is invalid',
  'Filepath is too long (maximum is <number> characters)',
  ...takenTexts,
];

const linksIn = (db: Database, release_id: number) =>
  db
    .selectFrom('release_links')
    .select(['id', 'name', 'url', 'filepath'])
    .select((q) => q.ref('link_type').$castTo<LinkRow['link_type']>().as('link_type'))
    .where('release_id', '=', release_id);

/** The release to change, locked so that concurrent changes of its links wait. */
async function lockedRelease(tx: Database, project: Project, tag: string): Promise<ReleaseRow> {
  const locked = tx.selectFrom('releases').select('id').where('project_id', '=', project.id).where('tag', '=', tag);
  await locked.forUpdate().execute();
  return releaseNamed(tx, project.id, tag);
}

const linkOf = async (db: Database, release_id: number, id: number): Promise<LinkRow> =>
  found(undefined, await linksIn(db, release_id).where('id', '=', id).executeTakeFirst());

const input = { tag_name: TagName };
const changing = { access: releaseWriter, returns: one(ReleaseLink) };

export const releaseLinkRoutes = [
  get(path, {
    operation: 'listReleaseLinks',
    summary: 'List the links of a release, newest first',
    access: releaseReader,
    input: { ...input, ...paging },
    returns: pageOf(ReleaseLink),
    refusals: { 404: missingText },
    handle: async ({ db, url, project, input: asked }) => {
      const release = await releaseNamed(db, project.id, asked.tag_name);
      const { reads_code } = rightsIn(project);
      const page = await paginate(db, linksIn(db, release.id).orderBy('id', 'desc'), asked);
      return mapPage(page, (link) => presentLink(url, release, link, reads_code));
    },
  }),
  get(`${path}/:link_id`, {
    operation: 'getReleaseLink',
    summary: 'Get a link of a release',
    access: releaseReader,
    input: { ...input, link_id: Id },
    returns: one(ReleaseLink),
    refusals: { 404: missingText },
    handle: async ({ db, url, project, input: { tag_name, link_id } }) => {
      const release = await releaseNamed(db, project.id, tag_name);
      return presentLink(url, release, await linkOf(db, release.id, link_id), rightsIn(project).reads_code);
    },
  }),
  post(path, {
    operation: 'createReleaseLink',
    summary: 'Add a link to a release',
    ...changing,
    input: { ...input, name: Type.String(), url: Type.String(), ...optionals },
    refusals: { 400: [...linkTexts, tooMany], 403: '403 Forbidden', 404: missingText },
    handle: async ({ project, input: { tag_name, name, url, ...others }, ...services }) => {
      await refuseProtected(services.db, project, tag_name);
      const link = { name, url, filepath: null, link_type: 'other', ...given(others) };
      refuseInvalid(link);
      return refusingTaken(() =>
        services.db.transaction().execute(async (tx) => {
          const release = await lockedRelease(tx, project, tag_name);
          if (release.links.length >= maximumLinks) throw new ApiError(400, { message: [tooMany] });
          const values = { release_id: release.id, ...link };
          const { id } = await tx.insertInto('release_links').values(values).returning('id').executeTakeFirstOrThrow();
          await tellOfRelease(tx, services, project, 'update', tag_name);
          return presentLink(services.url, release, await linkOf(tx, release.id, id));
        }),
      );
    },
  }),
  put(`${path}/:link_id`, {
    operation: 'updateReleaseLink',
    summary: 'Change a link of a release',
    ...changing,
    input: { ...input, link_id: Id, name: optional(Type.String()), url: optional(Type.String()), ...optionals },
    rules: [atLeastOneOf('name', 'url')],
    refusals: { 400: linkTexts, 403: '403 Forbidden', 404: missingText },
    handle: async ({ project, input: { tag_name, link_id, name, url, ...others }, ...services }) => {
      await refuseProtected(services.db, project, tag_name);
      return refusingTaken(() =>
        services.db.transaction().execute(async (tx) => {
          const release = await lockedRelease(tx, project, tag_name);
          const { id: _, ...before } = await linkOf(tx, release.id, link_id);
          const link = { ...before, name: name ?? before.name, url: url ?? before.url, ...given(others) };
          refuseInvalid(link);
          await tx
            .updateTable('release_links')
            .set({ ...link, updated_at: new Date().toISOString() })
            .where('id', '=', link_id)
            .execute();
          await tellOfRelease(tx, services, project, 'update', tag_name);
          return presentLink(services.url, release, await linkOf(tx, release.id, link_id));
        }),
      );
    },
  }),
  del(`${path}/:link_id`, {
    operation: 'deleteReleaseLink',
    summary: 'Delete a link of a release',
    ...changing,
    returns: withStatus(200, one(ReleaseLink)),
    input: { ...input, link_id: Id },
    refusals: { 403: '403 Forbidden', 404: missingText },
    handle: async ({ project, input: { tag_name, link_id }, ...services }) => {
      await refuseProtected(services.db, project, tag_name);
      return services.db.transaction().execute(async (tx) => {
        const release = await lockedRelease(tx, project, tag_name);
        const link = await linkOf(tx, release.id, link_id);
        await deleteFound(tx, 'release_links', link_id);
        await tellOfRelease(tx, services, project, 'update', tag_name);
        return presentLink(services.url, release, link);
      });
    },
  }),
];
