/** The interface of avatars to other districts. */
export { Avatar, avatarTexts, receiveAvatar, setAvatar } from './actions.ts';
export { avatarBytes, avatarDoorway } from './http.ts';
export { avatarFiles } from './queries.ts';
export { avatarTypes, avatarUrl } from './rules.ts';
