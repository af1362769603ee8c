/** Where avatars are stored. */
import type { StoredFiles } from '../../../services/index.ts';
import type { AvatarTable } from './actions.ts';

/** The avatars of a table. */
export const avatarFiles = (table: AvatarTable): StoredFiles => ({
  table,
  key: 'avatar_key',
  kind: 'avatars',
  check: { noun: 'an avatar', remedy: 'Restore it from a backup, or set the avatar again.' },
});
