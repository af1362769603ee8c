/** What a snippet can be: its title, description and files. Pure functions. */
import { contentReasons, type FileAction, pathReasons, sizeText } from '../repository/index.ts';

const longestTitle = 255;
const longestDescription_bytes = 1024 * 1024;

const contentOf = (action: FileAction): Buffer | undefined => ('content' in action ? action.content : undefined);

/** The bytes that actions add. */
export const addedBytes = (actions: readonly FileAction[]): number =>
  actions.reduce((sum, action) => sum + (contentOf(action)?.length ?? 0), 0);

/** Why a snippet cannot have these values and files, by field; empty if it can. */
export function problemsOf(
  { title = '', description }: { title?: string | undefined; description?: string | null | undefined },
  actions: readonly FileAction[],
  limit_bytes: number,
): Record<string, string[]> {
  const description_bytes = Buffer.byteLength(description ?? '');
  const problems = {
    title: title.length > longestTitle ? [`is too long (maximum is ${longestTitle} characters)`] : [],
    description:
      description_bytes > longestDescription_bytes
        ? [`is too long (${sizeText(description_bytes)}). The maximum size is ${sizeText(longestDescription_bytes)}.`]
        : [],
    file_name: [...new Set(actions.flatMap(({ file_path }) => pathReasons(file_path)))],
    content: [...new Set(actions.flatMap((action) => contentReasons(contentOf(action)?.length ?? 0, limit_bytes)))],
  };
  return Object.fromEntries(Object.entries(problems).filter(([, reasons]) => reasons.length > 0));
}
