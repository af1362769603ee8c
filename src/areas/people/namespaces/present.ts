/** How namespaces and groups appear in responses. */
import { type Static, Type } from 'typebox';
import { groupPage, userPage } from '../../../access/index.ts';
import { DateOnly, Id, nullable, resource } from '../../../http/index.ts';
import { avatarUrl } from '../avatars/rules.ts';

export const namespaceBasicFields = {
  id: Id,
  name: Type.String(),
  path: Type.String(),
  kind: Type.Enum(['user', 'group']),
  full_path: Type.String(),
  parent_id: nullable(Id),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
};
/** The namespace of a project. */
export const NamespaceBasic = resource('NamespaceBasic', namespaceBasicFields);

export interface NamespaceRow {
  id: number;
  name: string;
  path: string;
  kind: string;
  full_path: string;
  parent_id: number | null;
  /** The path from `namespaceAvatar`. */
  avatar_path: string | null;
}

/** @param url the external address of the server */
export const presentNamespaceBasic = (
  url: string,
  { id, name, path, kind, full_path, parent_id, avatar_path }: NamespaceRow,
): Static<typeof NamespaceBasic> => ({
  id,
  name,
  path,
  kind: kind as 'user' | 'group',
  full_path,
  parent_id,
  avatar_url: avatar_path === null ? null : `${url}/uploads/-/system/${avatar_path}`,
  web_url: url + (kind === 'group' ? groupPage : userPage)(full_path),
});

/** A group in lists to choose from. */
export const PublicGroupDetails = resource('PublicGroupDetails', {
  id: Id,
  web_url: Type.String(),
  name: Type.String(),
  avatar_url: nullable(Type.String()),
  full_name: Type.String(),
  full_path: Type.String(),
});

/**
 * @param url the external address of the server
 * @param group a group with `full_name`, the names from the top-level group down, joined by ` / `
 */
export const presentPublicGroup = (
  url: string,
  {
    id,
    name,
    avatar,
    full_name,
    full_path,
  }: { id: number; name: string; avatar: string | null; full_name: string; full_path: string },
): Static<typeof PublicGroupDetails> => ({
  id,
  web_url: url + groupPage(full_path),
  name,
  avatar_url: avatarUrl(url, 'group', { id, avatar }),
  full_name,
  full_path,
});

/** An invited group in the reply for a group or project that is shared with it. */
export const SharedWithGroup = resource('SharedWithGroup', {
  group_id: Id,
  group_name: Type.String(),
  group_full_path: Type.String(),
  group_access_level: Type.Integer(),
  expires_at: nullable(DateOnly),
});
