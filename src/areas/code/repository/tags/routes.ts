/** Tags of a repository (docs/reference/repository.md). */
import { type Static, Type } from 'typebox';
import { codeReader, codeWriter, mayReadReleases, type Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  listTags,
  type Repository,
  readCommit,
  readTag,
  repositoryOf,
  resolveTag,
  type TagRef,
} from '../../../../git/index.ts';
import {
  checkUnmodified,
  del,
  found,
  get,
  notFound,
  nothing,
  nullable,
  one,
  optional,
  type Page,
  pageOf,
  post,
  resource,
  type Services,
  Timestamp,
  unprocessable,
} from '../../../../http/index.ts';
import { gitPaging, pageOfArray } from '../../../../lists/index.ts';
import { tagProtectionFor } from '../../protected_tags/queries.ts';
import { pushRuleTexts } from '../../push_rules/rules.ts';
import { Commit, presentCommit } from '../present.ts';
import { movedText } from '../push_checks/refusal_rules.ts';
import { matchesSearch } from '../rules.ts';
import { createTag, deleteTag } from './actions.ts';

/** `commit` is null for a tag of a blob or tree, `created_at` for a lightweight tag. */
export const Tag = resource('Tag', {
  name: Type.String(),
  message: nullable(Type.String({ description: 'The message of an annotated tag' })),
  target: Type.String({ description: 'ID of the commit, or of the object of an annotated tag' }),
  commit: nullable(Commit),
  release: nullable(Type.Object({ tag_name: Type.String(), description: nullable(Type.String()) })),
  protected: Type.Boolean(),
  created_at: nullable(Timestamp),
});

/** The releases of tags, by tag. A higher area, for releases, finds them. */
export type ReleasesOfTags = (
  db: Database,
  project_id: number,
  tags: readonly string[],
) => Promise<ReadonlyMap<string, { tag_name: string; description: string | null }>>;

interface Shown {
  services: Services;
  project: Project;
  is_protected: boolean;
  release: Static<typeof Tag>['release'];
}

async function present(
  { services: { url, storages }, project, is_protected, release }: Shown,
  ref: TagRef,
): Promise<Static<typeof Tag>> {
  const repository = repositoryOf({ storages }, project);
  const { name, id, commit_id, message, tagged_date } = await readTag(repository, ref);
  return {
    name,
    message,
    target: id,
    commit: commit_id === null ? null : presentCommit(url, project, await readCommit(repository, commit_id)),
    release,
    protected: is_protected,
    created_at: tagged_date,
  };
}

interface TagServices extends Services {
  releasesOf: ReleasesOfTags;
}

async function presentAll(
  services: TagServices,
  project: Project,
  refs: readonly TagRef[],
): Promise<Static<typeof Tag>[]> {
  const { db, releasesOf } = services;
  const names = mayReadReleases(project) ? refs.map(({ name }) => name) : [];
  const [protection, releases] = await Promise.all([tagProtectionFor(db, project), releasesOf(db, project.id, names)]);
  return Promise.all(
    refs.map((ref) => {
      const { is_protected } = protection(ref.name);
      return present({ services, project, is_protected, release: releases.get(ref.name) ?? null }, ref);
    }),
  );
}

const presentOne = async (services: TagServices, project: Project, ref: TagRef): Promise<Static<typeof Tag>> =>
  (await presentAll(services, project, [ref]))[0]!;

/** The page after the last tag of the previous page. */
function keysetPage(
  tags: readonly TagRef[],
  { per_page, page_token }: { per_page: number; page_token?: string },
): Page<TagRef> {
  const position = page_token ? tags.findIndex(({ name }) => name === page_token) : -1;
  if (page_token && position < 0) throw unprocessable('page_token is invalid');
  const page = pageOfArray(tags.slice(position + 1), { page: 1, per_page });
  return { ...page, next: page.has_more ? { page_token: page.items.at(-1)!.name } : null };
}

async function tagNamed(repository: Repository, name: string): Promise<TagRef> {
  return found('Tag', await resolveTag(repository, name));
}

const path = '/projects/:id/repository/tags';
const TagName = Type.String({ description: 'Name of the tag' });

export const tagRoutes = (releasesOf: ReleasesOfTags) => [
  get(path, {
    operation: 'listTags',
    summary: 'List the tags of a repository',
    access: codeReader,
    input: {
      order_by: Type.Enum(['name', 'updated', 'version'], { default: 'updated' }),
      sort: Type.Enum(['asc', 'desc'], { default: 'desc' }),
      search: optional(Type.String({ description: 'Part of the name; `^x` begins with x, `x$` ends with x' })),
      pagination: optional(Type.String({ description: '`keyset`' })),
      page_token: optional(Type.String({ description: 'Name of the last tag of the previous page' })),
      ...gitPaging,
    },
    returns: pageOf(Tag),
    refusals: { 422: 'page_token is invalid' },
    handle: async ({ project, input, ...services }) => {
      const repository = repositoryOf(services, project);
      const all = await listTags(repository, { sort: input.order_by, order: input.sort });
      const tags = all.filter(({ name }) => matchesSearch(name, input.search ?? ''));
      const isKeyset = input.pagination === 'keyset' || Boolean(input.page_token);
      const page = isKeyset ? keysetPage(tags, input) : pageOfArray(tags, input);
      return { ...page, items: await presentAll({ ...services, releasesOf }, project, page.items) };
    },
  }),
  get(`${path}/:tag_name`, {
    operation: 'getTag',
    summary: 'Get a tag',
    access: codeReader,
    input: { tag_name: TagName },
    returns: one(Tag),
    refusals: { 404: '404 Tag Not Found' },
    handle: async ({ project, input, ...services }) => {
      const tag = await tagNamed(repositoryOf(services, project), input.tag_name);
      return presentOne({ ...services, releasesOf }, project, tag);
    },
  }),
  get(`${path}/:tag_name/signature`, {
    operation: 'getTagSignature',
    summary: 'Get the signature of a tag; always answers 404',
    access: codeReader,
    input: { tag_name: TagName },
    returns: one(Type.Object({})),
    refusals: { 404: ['404 Tag Not Found', '404 Signature Not Found'] },
    handle: async ({ project, input, ...services }) => {
      await tagNamed(repositoryOf(services, project), input.tag_name);
      throw notFound('Signature');
    },
  }),
  post(path, {
    operation: 'createTag',
    summary: 'Create a tag',
    access: codeWriter,
    input: {
      tag_name: TagName,
      ref: Type.String({ description: 'Branch, tag or commit to tag' }),
      message: Type.String({ default: '', description: 'Makes it an annotated tag' }),
    },
    returns: one(Tag),
    refusals: {
      400: [
        'Tag name invalid',
        'Tag <name> already exists',
        'Target is empty',
        'Target <ref> is invalid',
        "Failed to create tag '<name>': Tag name conflicts with existing tag hierarchy.",
        'You are not allowed to create this tag as it is protected.',
        ...pushRuleTexts,
      ],
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { tag_name: name, ref, message } = input;
      const tag = await createTag(services, { project, caller, name, ref, message });
      return presentOne({ ...services, releasesOf }, project, tag);
    },
  }),
  del(`${path}/:tag_name`, {
    operation: 'deleteTag',
    summary: 'Delete a tag',
    access: codeWriter,
    input: { tag_name: TagName },
    conditional: true,
    returns: nothing,
    refusals: {
      400: 'You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag.',
      404: '404 Tag Not Found',
      409: movedText,
    },
    handle: async ({ project, caller, input, unmodified_since, ...services }) => {
      const repository = repositoryOf(services, project);
      const tag = await tagNamed(repository, input.tag_name);
      const { commit_id } = await readTag(repository, tag);
      if (commit_id !== null)
        checkUnmodified((await readCommit(repository, commit_id)).authored_date, unmodified_since);
      await deleteTag(services, { project, caller, tag });
    },
  }),
];
