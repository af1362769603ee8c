/** How snippets appear in responses (docs/reference/snippets.md#object). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { snippetKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { inAddress, pagePath } from '../../../foundation/addresses.ts';
import {
  Address,
  cloneUrls,
  forPrograms,
  Id,
  Markdown,
  nullable,
  resource,
  type Services,
  Timestamp,
  Visibility,
} from '../../../http/index.ts';
import { presentUserBasic, UserBasic, type UserBasicRow, userBasicJson } from '../../people/users/index.ts';

const SnippetAuthor = Type.Object({
  ...UserBasic.properties,
  email: Type.String({ description: 'The public email address; empty without one' }),
  created_at: Timestamp,
});

export const SnippetForm = resource('Snippet', {
  id: Id,
  title: Type.String(),
  description: nullable(Markdown()),
  visibility: Visibility,
  author: SnippetAuthor,
  created_at: Timestamp,
  updated_at: Timestamp,
  project_id: nullable(Id),
  web_url: Address(),
  raw_url: Address(),
  ssh_url_to_repo: forPrograms(Type.String({ description: 'Empty when the server does not speak SSH' })),
  http_url_to_repo: forPrograms(Type.String()),
  file_name: Type.String({ description: 'The path of the first file' }),
  files: Type.Array(Type.Object({ path: Type.String(), raw_url: Address() })),
  imported: Type.Boolean(),
  imported_from: Type.String(),
});

const { id, title, description, visibility, updated_at, created_at, project_id, ...otherMembers } =
  SnippetForm.properties;
const { web_url, raw_url, ssh_url_to_repo, http_url_to_repo } = otherMembers;

/** A snippet in lists of repositories for administrators. */
export const SnippetIdentity = resource('SnippetIdentity', {
  ...{
    id,
    title,
    description,
    visibility,
    updated_at,
    created_at,
    project_id,
    web_url,
    raw_url,
    ssh_url_to_repo,
    http_url_to_repo,
  },
});

export interface SnippetRow {
  id: number;
  title: string;
  description: string | null;
  visibility: 'private' | 'internal' | 'public';
  project_id: number | null;
  project_path: string | null;
  author: UserBasicRow & { created_at: string };
  branch: string;
  paths: string[];
  imported_from: string;
  created_at: string;
  updated_at: string;
}

/** The author of each row of `snippets`. */
export const authorOfSnippet: RawBuilder<SnippetRow['author']> = sql`(
  select ${userBasicJson('author')} || jsonb_build_object('created_at', ${momentInJson('author.created_at')}) from users author where author.id = snippets.author_id)`;

const personalSnippetPage = pagePath('/-/snippets/:snippet_id');

/** The URLs of a snippet: below its project, or of a personal snippet. */
function urlsOf(
  services: Pick<Services, 'url' | 'ssh_url'>,
  { id, project_path, branch, paths }: Pick<SnippetRow, 'id' | 'project_path' | 'branch' | 'paths'>,
) {
  const page = project_path === null ? personalSnippetPage(id) : snippetKind.page(project_path, id);
  const web_url = services.url + page;
  const { http, ssh } = cloneUrls(services, `${project_path === null ? '' : `${project_path}/`}snippets/${id}`);
  return {
    web_url,
    raw_url: `${web_url}/raw`,
    ssh_url_to_repo: ssh,
    http_url_to_repo: http,
    files: paths.map((path) => ({ path, raw_url: `${web_url}/raw/${inAddress(branch)}/${inAddress(path)}` })),
  };
}

type IdentityRow = Pick<
  SnippetRow,
  'id' | 'title' | 'description' | 'visibility' | 'updated_at' | 'created_at' | 'project_id' | 'project_path'
>;

/** Converts a row of `snippets` with the path of its project to a `SnippetIdentity`. */
export function presentSnippetIdentity(
  services: Pick<Services, 'url' | 'ssh_url'>,
  { project_path, ...snippet }: IdentityRow,
): Static<typeof SnippetIdentity> {
  const { files: _files, ...urls } = urlsOf(services, { id: snippet.id, project_path, branch: '', paths: [] });
  return { ...snippet, ...urls };
}

/** Converts a row of `snippetRows` to the reply. */
export function presentSnippet(
  services: Pick<Services, 'url' | 'ssh_url'>,
  row: SnippetRow,
): Static<typeof SnippetForm> {
  const { project_path: _path, branch: _branch, paths, author, ...snippet } = row;
  return {
    ...snippet,
    author: {
      ...presentUserBasic(services.url, author),
      email: author.public_email,
      created_at: author.created_at,
    },
    ...urlsOf(services, row),
    file_name: paths[0]!,
    imported: snippet.imported_from !== 'none',
  };
}
