/** Snippets: a few files with a title, in a project or personal (docs/reference/snippets.md). */
import { sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import {
  type GrantedSnippet,
  internalUser,
  type MaybeCaller,
  type Project,
  projectRole,
  projectSnippetEditor,
  projectSnippetForAdmin,
  projectSnippetVisible,
  signedIn,
  snippetEditor,
  snippetForAdmin,
  snippetVisible,
} from '../../../access/index.ts';
import { entryAt, repositoryOf, resolveCommit } from '../../../git/index.ts';
import {
  type Access,
  bytes,
  type Caller,
  type Conditions,
  checkUnmodified,
  del,
  found,
  get,
  Id,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  type Services,
  Timestamp,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { blobBytes } from '../repository/trees/blob_present.ts';
import { contentTypes } from '../repository/trees/content_rules.ts';
import { changeSnippet, createSnippet, removeSnippet } from './actions.ts';
import { placeOf } from './kind.ts';
import {
  actionsFromChanges,
  actionsFromNew,
  newSnippet,
  newSnippetRules,
  severalFiles,
  snippetChangeRules,
  snippetChanges,
} from './parameters.ts';
import { presentSnippet, SnippetForm } from './present.ts';
import { lists, snippetRow, snippetsOfProject } from './queries.ts';
import { invalidActions } from './rules.ts';

/** As for repository files: larger ones are for `git push`. */
const bodyLimit_bytes = 100 * 1024 * 1024;

const UserAgentDetail = resource('UserAgentDetail', {
  user_agent: Type.String(),
  ip_address: Type.String(),
  akismet_submitted: Type.Boolean(),
});

const present = async ({ db, ...services }: Services, id: number) => presentSnippet(services, await snippetRow(db, id));

const fieldTexts = [
  'Title is too long (maximum is 255 characters)',
  'Description is too long (<size>). The maximum size is <size>.',
  'File name is too long (maximum is 255 characters)',
  'Content is too long (<size>). The maximum size is <size>.',
  '<reason> and <reason>',
];
const restricted = 'Visibility level <level> has been restricted by your administrator';

async function create(
  services: Services,
  { caller, project, sent_from }: { caller: Caller; project: Project | undefined } & Pick<Conditions, 'sent_from'>,
  input: Static<TObject<typeof newSnippet>>,
) {
  const { title, description, visibility } = input;
  const snippet = { title, description, visibility, actions: await actionsFromNew(input) };
  return present(services, await createSnippet(services, { author: caller, project, sent_from }, snippet));
}

const creating = {
  input: newSnippet,
  rules: newSnippetRules,
  body_limit_bytes: bodyLimit_bytes,
  returns: one(SnippetForm),
  refusals: { 400: [...fieldTexts, 'Repository Error creating the snippet - <reason>'], 403: restricted },
} as const;

/** The file of a request, at the commit in the row or at another ref of the repository. */
async function fileOf(services: Services, { snippet }: GrantedSnippet<MaybeCaller>, path: string, ref?: string) {
  const repository = repositoryOf(services, placeOf(snippet));
  const commit =
    ref === undefined ? snippet.commit_id : found('Reference', await resolveCommit(repository, ref, { prefer: 'tag' }));
  const entry = await entryAt(repository, commit, path);
  const file = found('File', entry?.type === 'blob' || entry?.type === 'symlink' ? entry : undefined);
  return blobBytes(repository, file);
}

/** The two ways to reach the same operations: in a project, or by the id of the snippet alone. */
interface At {
  /** The name used in operation ids. */
  noun: 'Snippet' | 'ProjectSnippet';
  path: string;
  /** The noun used in summaries. */
  thing: string;
  named: { snippet_id: typeof Id } | { id: typeof Id };
  visible(missing?: string): Access<GrantedSnippet<MaybeCaller>>;
  editor: Access<GrantedSnippet<Caller>>;
  forAdmin: Access<GrantedSnippet<Caller>>;
}

const inProject: At = {
  noun: 'ProjectSnippet',
  path: '/projects/:id/snippets/:snippet_id',
  thing: 'a project snippet',
  named: { snippet_id: Id },
  visible: projectSnippetVisible,
  editor: projectSnippetEditor,
  forAdmin: projectSnippetForAdmin,
};

const alone: At = {
  noun: 'Snippet',
  path: '/snippets/:id',
  thing: 'a snippet',
  named: { id: Id },
  visible: snippetVisible,
  editor: snippetEditor,
  forAdmin: snippetForAdmin,
};

const routesAt = ({ noun, path, thing, named, visible, editor, forAdmin }: At) => [
  get(path, {
    operation: `get${noun}`,
    summary: `Get ${thing}`,
    access: visible(),
    input: named,
    returns: one(SnippetForm),
    refusals: { 404: '404 Snippet Not Found' },
    handle: ({ snippet, ...services }) => present(services, snippet.id),
  }),
  put(path, {
    operation: `update${noun}`,
    summary: `Update ${thing}`,
    description:
      'Title, description, visibility and files change together or not at all. The body has at most 100 MiB.',
    access: editor,
    input: { ...named, ...snippetChanges },
    rules: snippetChangeRules,
    body_limit_bytes: bodyLimit_bytes,
    returns: one(SnippetForm),
    refusals: {
      400: [...fieldTexts, severalFiles, 'Repository Error updating the snippet - <reason>'],
      403: restricted,
      404: '404 Snippet Not Found',
      422: invalidActions,
    },
    handle: async ({ caller, snippet, project, input, ...services }) => {
      const { title, description, visibility } = input;
      const actions = await actionsFromChanges(snippet, input);
      await changeSnippet(services, { snippet, author: caller }, { title, description, visibility }, actions);
      return present(services, snippet.id);
    },
  }),
  del(path, {
    operation: `delete${noun}`,
    summary: `Delete ${thing}`,
    access: editor,
    input: named,
    conditional: true,
    returns: nothing,
    refusals: { 404: '404 Snippet Not Found' },
    handle: async ({ snippet, unmodified_since, ...services }) => {
      checkUnmodified(snippet.updated_at, unmodified_since);
      await removeSnippet(services, snippet);
    },
  }),
  get(`${path}/raw`, {
    operation: `getRaw${noun}`,
    summary: `Get the first file of ${thing}`,
    access: visible('Snippet'),
    input: named,
    returns: bytes(contentTypes),
    refusals: { 404: ['404 Snippet Not Found', '404 File Not Found'] },
    handle: ({ caller, snippet, project, ...services }) =>
      fileOf(services, { caller, snippet, project }, snippet.paths[0]!),
  }),
  get(`${path}/files/:ref/:file_path/raw`, {
    operation: `getRaw${noun}File`,
    summary: `Get a file of ${thing}`,
    access: visible('Snippet'),
    input: {
      ...named,
      ref: Type.String({ description: 'Branch, tag or commit' }),
      file_path: Type.String({ description: 'URL-encoded path of the file' }),
    },
    returns: bytes(contentTypes),
    refusals: { 404: ['404 Snippet Not Found', '404 Reference Not Found', '404 File Not Found'] },
    handle: ({ caller, snippet, project, input, ...services }) =>
      fileOf(services, { caller, snippet, project }, input.file_path, input.ref),
  }),
  get(`${path}/user_agent_detail`, {
    operation: `get${noun}UserAgentDetail`,
    summary: `Get the user agent details of ${thing}`,
    access: forAdmin,
    input: named,
    returns: one(UserAgentDetail),
    refusals: { 404: ['404 Snippet Not Found', '404 UserAgentDetail Not Found'] },
    handle: async ({ db, snippet }) =>
      found(
        'UserAgentDetail',
        await db
          .selectFrom('snippet_user_agents')
          .select(['user_agent', sql<string>`host(ip_address)`.as('ip_address'), 'akismet_submitted'])
          .where('snippet_id', '=', snippet.id)
          .executeTakeFirst(),
      ),
  }),
];

const span = {
  created_after: optional(Timestamp),
  created_before: optional(Timestamp),
};

const listAcross = (of: keyof typeof lists, path: string, [operation, summary]: [string, string]) =>
  get(path, {
    operation,
    summary: `${summary}, newest first`,
    access: signedIn,
    input: { ...paging, ...span },
    returns: pageOf(SnippetForm),
    handle: async ({ db, url, ssh_url, caller, input }) =>
      mapPage(await paginate(db, lists[of](db, caller, input), input), (row) => presentSnippet({ url, ssh_url }, row)),
  });

export const snippetRoutes = [
  get('/projects/:id/snippets', {
    operation: 'listProjectSnippets',
    summary: 'List the snippets of a project, newest first',
    access: projectRole('guest', { feature: 'snippets' }),
    input: paging,
    returns: pageOf(SnippetForm),
    handle: async ({ db, url, ssh_url, caller, project, input }) =>
      mapPage(await paginate(db, snippetsOfProject(db, caller, project), input), (row) =>
        presentSnippet({ url, ssh_url }, row),
      ),
  }),
  post('/projects/:id/snippets', {
    operation: 'createProjectSnippet',
    summary: 'Create a project snippet',
    description: 'A snippet has at most 10 files. The body has at most 100 MiB.',
    access: projectRole('reporter', { feature: 'snippets' }),
    ...creating,
    handle: ({ caller, project, sent_from, input, ...services }) =>
      create(services, { caller, project, sent_from }, input),
  }),
  ...routesAt(inProject),
  listAcross('own', '/snippets', ['listSnippets', 'List the snippets of the caller']),
  listAcross('public', '/snippets/public', ['listPublicSnippets', 'List all public personal snippets']),
  listAcross('all', '/snippets/all', ['listAllSnippets', 'List all snippets that the caller can read']),
  post('/snippets', {
    operation: 'createSnippet',
    summary: 'Create a personal snippet',
    description: 'A snippet has at most 10 files. The body has at most 100 MiB. Without `visibility`, it is internal.',
    access: internalUser,
    ...creating,
    handle: ({ caller, sent_from, input, ...services }) =>
      create(services, { caller, project: undefined, sent_from }, input),
  }),
  ...routesAt(alone),
];
