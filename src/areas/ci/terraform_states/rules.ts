/** Names and locks of states of Terraform (docs/reference/terraform_states.md). Pure functions. */

export const namePattern = /^[\w.-]{1,255}$/;

/** Whatever the setting says: a state is held in memory. */
export const largestState_bytes = 64 * 1024 * 1024;

const longestLock = 65_536;
const longestId = 255;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** A lock, as a client asks for it. */
export interface Lock {
  id: string;
  /** As it was sent. */
  info: string;
}

const isId = (id: unknown): id is string =>
  typeof id === 'string' && id !== '' && id.length <= longestId && !id.includes('\0') && id.isWellFormed();

/** The lock in a body; undefined if there is none with an ID, or one that is not flat. */
export function lockIn(content: Buffer): Lock | undefined {
  const info = content.length <= longestLock ? parsed(content) : undefined;
  if (!isRecord(info) || !isId(info.ID)) return undefined;
  // Locks are flat. PostgreSQL stores neither NUL nor halves of characters.
  const isStorable = (part: unknown) =>
    typeof part === 'string' ? !part.includes('\0') && part.isWellFormed() : typeof part !== 'object' || part === null;
  return Object.entries(info).flat().every(isStorable) ? { id: info.ID, info: JSON.stringify(info) } : undefined;
}
