/** Validation of snippets: their title, description and files, and the changes of a request to them. Pure functions. */
import { unprocessable } from '../../../http/index.ts';
import { sizeText } from '../../../texts/index.ts';
import type { FileAction } from '../repository/commits/file_actions.ts';
import { contentReasons, pathReasons } from './content_checks.ts';

const maximumTitle = 255;
const maximumDescription_bytes = 1024 * 1024;

/** One member of `files` in an update, with its content in bytes. */
export interface FileChange {
  action: 'create' | 'update' | 'delete' | 'move';
  file_path?: string | undefined;
  previous_path?: string | undefined;
  content?: Buffer | undefined;
}

/** The refusal of members of `files` that lack a value that their action needs. */
export const invalidActions = 'Snippet actions have invalid data';

/** @throws ApiError 422 */
function need<T>(value: T | undefined): T {
  if (value === undefined) throw unprocessable(invalidActions);
  return value;
}

/** The first free name for a file without one. */
function generatedName(taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) if (!taken.has(`snippetfile${number}.txt`)) return `snippetfile${number}.txt`;
}

/** @param taken the paths in use, for naming a new file */
function actionOf({ action, file_path, previous_path, content }: FileChange, taken: ReadonlySet<string>): FileAction {
  const path = file_path?.trim() ? file_path : undefined;
  switch (action) {
    case 'create':
      return { action, file_path: path ?? generatedName(taken), content: need(content) };
    case 'update':
      if (previous_path !== undefined && previous_path !== path) throw unprocessable(invalidActions);
      return { action, file_path: need(path), content: need(content) };
    case 'delete':
      return { action, file_path: need(path) };
    case 'move':
      if (previous_path === path) throw unprocessable(invalidActions);
      return { action, file_path: need(path), previous_path: need(previous_path), content };
  }
}

/**
 * The actions for the members of `files`, in order.
 * @param paths the present files
 * @throws ApiError 422 for a member that lacks a value that its action needs
 */
export function actionsOf(changes: readonly FileChange[], paths: readonly string[]): FileAction[] {
  const taken = new Set(paths);
  return changes.map((change) => {
    const action = actionOf(change, taken);
    taken.add(action.file_path);
    return action;
  });
}

/** The actions for the deprecated `content` and `file_name` on the only file. */
export function actionsOnOnlyFile(
  path: string,
  { file_name = path, content }: { file_name?: string | undefined; content?: Buffer | undefined },
): FileAction[] {
  if (file_name !== path) return [{ action: 'move', previous_path: path, file_path: file_name, content }];
  return content === undefined ? [] : [{ action: 'update', file_path: path, content }];
}

const contentOf = (action: FileAction): Buffer | undefined => ('content' in action ? action.content : undefined);

/** The number of bytes that actions add. */
export const addedBytes = (actions: readonly FileAction[]): number =>
  actions.reduce((sum, action) => sum + (contentOf(action)?.length ?? 0), 0);

/** The reasons for refusing the values and files of a snippet, by field; empty if they are valid. */
export function problemsOf(
  { title = '', description }: { title?: string | undefined; description?: string | null | undefined },
  actions: readonly FileAction[],
  limit_bytes: number,
): Record<string, string[]> {
  const description_bytes = Buffer.byteLength(description ?? '');
  const problems = {
    title: title.length > maximumTitle ? [`is too long (maximum is ${maximumTitle} characters)`] : [],
    description:
      description_bytes > maximumDescription_bytes
        ? [`is too long (${sizeText(description_bytes)}). The maximum size is ${sizeText(maximumDescription_bytes)}.`]
        : [],
    file_name: [...new Set(actions.flatMap(({ file_path }) => pathReasons(file_path)))],
    content: [...new Set(actions.flatMap((action) => contentReasons(contentOf(action)?.length ?? 0, limit_bytes)))],
  };
  return Object.fromEntries(Object.entries(problems).filter(([, reasons]) => reasons.length > 0));
}
