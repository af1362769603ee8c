/** What people type to name an issue or epic. */
import { invalid } from '../../../http/index.ts';
import { referencesIn } from '../../../markdown/index.ts';

const marks = { issue: '#', epic: '&' } as const;

/** An issue or epic by its place and number. */
export interface Named {
  /** The full path of its project or group; null for that of the page. */
  path: string | null;
  iid: string;
}

/**
 * Reads a number, a reference such as `group/project#3`, or an address.
 * @param parent the full path of the group in which a project is that is named without one
 * @param url of the server, without a trailing slash
 * @throws ApiError 400 for everything else, about the field `target`
 */
export async function namedIn(
  kind: keyof typeof marks,
  text: unknown,
  { parent, url }: { parent: string; url: string },
): Promise<Named> {
  const typed = typeof text === 'string' ? text.trim() : '';
  const marked = /^\d+$/.test(typed) ? marks[kind] + typed : typed;
  const reference = (await referencesIn(marked, url)).find((each) => each.kind === kind);
  if (!reference) throw invalid({ target: [`has to be the number, reference or address of an ${kind}`] });
  const { path = null, value: iid } = reference;
  return { path: kind === 'issue' && path !== null && !path.includes('/') ? `${parent}/${path}` : path, iid };
}
