/** Changing files in a browser: edit, new file, upload, new folder, delete (docs/reference/repository_pages.md#changing-files). */
import { invalid, notFound, SentFile, type Values } from '../../../http/index.ts';
import { type Page, type PageCall, type PageForm, page, textIn } from '../../../pages/index.ts';
import { blobPage, treePage } from '../../code/repository/index.ts';
import { joined } from '../repository/address_rules.ts';
import { commitChanges } from './commit_actions.ts';
import { fileToEdit } from './file_queries.ts';
import { type Writing, writingAt } from './place_queries.ts';
import { nameOf, pathIn, withLineEndsOf } from './rules.ts';
import { deletionView, type EditedPlace, editView, newFileView, newFolderView, uploadView } from './views.ts';

/** The text of a field; long ones come as bytes. */
function contentOf({ content }: Values): string {
  if (content instanceof Uint8Array) return new TextDecoder().decode(content);
  return typeof content === 'string' ? content : '';
}

/** @throws ApiError 400 for fields that were left empty, and for files that were not chosen */
function refuseEmpty(fields: Values, names: readonly string[]): void {
  const isEmpty = (name: string) => textIn(fields, name) === undefined && !Array.isArray(fields[name]);
  const reasons = Object.fromEntries(names.filter(isEmpty).map((name) => [name, ['is empty']]));
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
}

/** The name of something new, and the branch, of which neither may be empty. */
function nameIn(fields: Values, name: string): string {
  refuseEmpty(fields, [name, 'branch']);
  return textIn(fields, name)!;
}

async function editedAt(call: PageCall): Promise<EditedPlace> {
  const writing = await writingAt(call);
  if (!writing.place.commit || writing.place.path === '') throw notFound('Page');
  return { writing, file: await fileToEdit(call, writing.place) };
}

/** Whether the file has changed since the form was shown. */
const isStale = async (call: PageCall, fields: Values): Promise<boolean> => {
  const { file } = await editedAt(call);
  return file.last_commit_id !== fields.last_commit_id;
};

/** What an existing file is asked to be by its form. */
const known = (fields: Values) => ({ last_commit_id: String(fields.last_commit_id) });

async function edit(call: PageCall, fields: Values): Promise<string> {
  const { writing, file } = await editedAt(call);
  const file_path = nameIn(fields, 'file_path');
  const content = withLineEndsOf(file.text, contentOf(fields));
  const isMoved = file_path !== file.path;
  return commitChanges(call, writing, fields, {
    actions: [
      {
        ...(isMoved ? { action: 'move', previous_path: file.path } : { action: 'update' }),
        ...{ file_path, content, ...known(fields) },
      },
    ],
    message: `${isMoved ? 'Move' : 'Update'} ${nameOf(file_path)}`,
    isStale: () => isStale(call, fields),
    shownAt: (project, branch) => blobPage(project, branch, file_path),
  });
}

async function addFile(call: PageCall, fields: Values): Promise<string> {
  const writing = await writingAt(call);
  const file_path = pathIn(writing.place.path, nameIn(fields, 'file_name'));
  return commitChanges(call, writing, fields, {
    actions: [{ action: 'create', file_path, content: withLineEndsOf(undefined, contentOf(fields)) }],
    message: `Add ${nameOf(file_path)}`,
    shownAt: (project, branch) => blobPage(project, branch, file_path),
  });
}

async function addFolder(call: PageCall, fields: Values): Promise<string> {
  const writing = await writingAt(call);
  const folder = pathIn(writing.place.path, nameIn(fields, 'folder_name'));
  return commitChanges(call, writing, fields, {
    actions: [{ action: 'create', file_path: pathIn(folder, '.gitkeep'), content: '' }],
    message: `Add the folder ${folder}`,
    shownAt: (project, branch) => treePage(project, joined(branch, folder)),
  });
}

/** Files of the same names are replaced. */
async function upload(call: PageCall, fields: Values): Promise<string> {
  refuseEmpty(fields, ['files', 'branch']);
  const writing = await writingAt(call);
  const { path, commit } = writing.place;
  const sent = [fields.files].flat().filter((file) => file instanceof SentFile);
  const actions = sent.map(async ({ name, content }) => {
    const file_path = pathIn(path, name);
    const before = commit && (await call.perhaps(call.bytes('getRawFileMetadata', { file_path, ref: commit.id })));
    return { action: before ? ('update' as const) : ('create' as const), file_path, content };
  });
  return commitChanges(call, writing, fields, {
    actions: await Promise.all(actions),
    message: sent.length === 1 ? `Upload ${sent[0]!.name}` : `Upload ${sent.length} files`,
    shownAt: (project, branch) => treePage(project, joined(branch, path)),
  });
}

async function remove(call: PageCall, fields: Values): Promise<string> {
  refuseEmpty(fields, ['branch']);
  const { writing, file } = await editedAt(call);
  const folder = file.path.slice(0, Math.max(0, file.path.lastIndexOf('/')));
  return commitChanges(call, writing, fields, {
    actions: [{ action: 'delete', file_path: file.path, ...known(fields) }],
    message: `Delete ${nameOf(file.path)}`,
    isStale: () => isStale(call, fields),
    shownAt: (project, branch) => treePage(project, joined(branch, folder)),
  });
}

/** A page with a form that changes files, and one that forks the project for those who may not change it. */
const writingPage = <Data>(
  path: string,
  act: (call: PageCall, fields: Values) => Promise<string>,
  { load, view }: Pick<Page<Data>, 'load' | 'view'>,
): Page<Data> => {
  const fork: PageForm = { runs: 'forkProject', next: (_reply: never, call) => call.path };
  return page(`/:id/-/${path}/*ref_path`, { signed_in: true, load, forms: { save: { act }, fork }, view });
};

export const fileEditingPages = [
  writingPage<EditedPlace>('edit', edit, { load: editedAt, view: editView }),
  writingPage<Writing>('new', addFile, { load: writingAt, view: newFileView }),
  writingPage<Writing>('upload', upload, { load: writingAt, view: uploadView }),
  writingPage<Writing>('create_dir', addFolder, { load: writingAt, view: newFolderView }),
  writingPage<EditedPlace>('delete', remove, { load: editedAt, view: deletionView }),
];
