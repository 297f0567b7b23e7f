/** What simulate takes for an algorithm where no profile and no devices are named. */
import { algorithms } from "@heterosgd/scheduler";
import {
  builtInProfiles,
  type DeviceRole,
  type Profile,
  type ProfileDevice,
} from "@heterosgd/trainer";

export const profileNames: readonly string[] = Object.keys(builtInProfiles);

/** Those of a profile's devices that the algorithm has a use for; some may be there only later. */
export function usefulDevices(profile: Profile, algorithm: string): readonly ProfileDevice[] {
  const roles = rolesOf(algorithm);
  if (roles.length === 0) return profile.devices;
  return profile.devices.filter((device) => roles.includes(deviceRole(profile, device)));
}

/** The shipped profiles with a device of each role that the algorithm tells apart. */
export function suitableProfiles(algorithm: string): readonly string[] {
  return profileNames.filter((name) => {
    const profile = builtInProfiles[name]!;
    const present = profile.devices.map((device) => deviceRole(profile, device));
    return rolesOf(algorithm).every((role) => present.includes(role));
  });
}

/** The first of them. */
export function defaultProfile(algorithm: string): string {
  return suitableProfiles(algorithm)[0] ?? profileNames[0]!;
}

/** `four-v100; cpu48-k80 with hogbatch, …`, for help. */
export function defaultProfileWords(): string {
  const [first] = profileNames;
  const others = Object.keys(algorithms).filter((name) => defaultProfile(name) !== first);
  const named = [...new Set(others.map(defaultProfile))].map(
    (profile) =>
      `${profile} with ${others.filter((name) => defaultProfile(name) === profile).join(", ")}`,
  );
  return [first, ...named].join("; ");
}

function rolesOf(algorithm: string) {
  return algorithms[algorithm]?.roles ?? [];
}

/** The part that a device of the profile takes. */
export function deviceRole({ kinds }: Profile, { kind, role }: ProfileDevice): DeviceRole {
  return role ?? kinds[kind]?.role ?? "host";
}
