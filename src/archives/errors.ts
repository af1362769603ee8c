/** What can be wrong with a file that another system made. */

/** The content is not what it should be, or is broken off. The message is a sentence for the person who wanted the file. */
export class InvalidContent extends Error {
  override name = 'InvalidContent';
}

/** The content is larger than it may be, or costs too much to read. The message is a sentence for the person who wanted the file. */
export class LimitExceeded extends Error {
  override name = 'LimitExceeded';
}
