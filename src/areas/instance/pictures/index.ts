/** The interface of pictures of other servers to other districts. */
export { proxiedPictureFiles } from './actions.ts';
export { proxiedPictureDoorway } from './http.ts';
export { removeOldPictures } from './jobs.ts';
export { throughProxy } from './rules.ts';
