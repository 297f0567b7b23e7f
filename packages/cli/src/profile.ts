import { builtInProfiles, checkProfile, type Profile } from "@heterosgd/trainer";
import { profileNames } from "./config/default-profile.js";
import { CliError } from "./errors.js";
import { readSmallFile, whyUnreadable } from "./small-file.js";

/**
 * The profile of that name, or in that file.
 *
 * @throws CliError PROFILE_UNREADABLE; TrainerError PROFILE
 */
export async function readProfile(file: string): Promise<Profile> {
  const shipped = Object.hasOwn(builtInProfiles, file) ? builtInProfiles[file] : undefined;
  if (shipped !== undefined) return shipped;
  const unreadable = (why: string, cause: unknown) =>
    new CliError("PROFILE_UNREADABLE", `cannot read the profile ${file}: ${why}`, {
      cause,
      hint: `those that are shipped are ${profileNames.join(", ")}`,
    });
  let text: string;
  try {
    text = await readSmallFile(file);
  } catch (cause) {
    throw unreadable(whyUnreadable(cause), cause);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw unreadable(`it is no JSON: ${(cause as SyntaxError).message}`, cause);
  }
  return checkProfile(document, file);
}
