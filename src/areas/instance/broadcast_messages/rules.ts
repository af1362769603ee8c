/**
 * The readers and pages of a broadcast message (docs/reference/broadcast_messages.md#where-a-message-is-shown). Pure
 * functions.
 */

export const themes = [
  'indigo',
  'light-indigo',
  'blue',
  'light-blue',
  'green',
  'light-green',
  'red',
  'light-red',
  'dark',
  'light',
] as const;
export const targetLevels = [10, 15, 20, 30, 40, 50] as const;

export interface Shown {
  starts_at: string;
  ends_at: string;
  target_access_levels: readonly number[];
  target_path: string | null;
}

export const isActive = ({ starts_at, ends_at }: Pick<Shown, 'starts_at' | 'ends_at'>, now: Date): boolean =>
  Date.parse(starts_at) <= now.getTime() && now.getTime() < Date.parse(ends_at);

/**
 * Whether a path matches a pattern, in which `*` stands for any text. Each part is searched for only once, so that no
 * pattern takes long.
 * @param pattern with or without a leading slash; null matches every path
 */
export function isPathOf(pattern: string | null, path: string): boolean {
  if (!pattern) return true;
  const [first = '', ...parts] = (pattern.startsWith('/') || pattern.startsWith('*') ? pattern : `/${pattern}`).split(
    '*',
  );
  if (parts.length === 0) return path === first;
  if (!path.startsWith(first)) return false;
  const last = parts.pop()!;
  let at = first.length;
  for (const part of parts) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}
