/** The interface of uploads to other districts. */
export { carryUploads } from './actions.ts';
export { uploadDoorway, uploadUrl } from './http.ts';
export { uploadedFiles } from './queries.ts';
