//! `windlass sweep --slurm`: the shards of a sweep as an array job of a cluster.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, absolute};
use std::process::{Command, Stdio};

use windlass_lab::run::store::{file_name, replace};

use crate::output::{Chatter, Failure};
use windlass_lab::papers::shell_word;

/// Name of the job's script in the folder of the sweep.
const SCRIPT: &str = "slurm.sh";

/// Writes the script of an array job whose tasks are the shards, and submits it. `command` repeats the sweep; `shards`
/// shards share the folder.
pub fn submit(
    command: &str,
    name: &str,
    shards: u16,
    dir: &Path,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let cannot = |e: io::Error| Failure::work(format!("{}: {e}", dir.display()));
    fs::create_dir_all(dir).map_err(cannot)?;
    let dir = absolute(dir).map_err(cannot)?;
    let text = script(command, name, shards, &dir);
    let path =
        replace(&dir, SCRIPT, |out| out.write_all(text.as_bytes())).map_err(Failure::work)?;
    let submitted =
        Command::new("sbatch").arg("--parsable").arg(&path).stderr(Stdio::inherit()).output();
    let submitted = submitted.map_err(|e| {
        Failure::work(format!(
            "sbatch cannot be called: {e}\nhelp: {} is the job; submit it where Slurm is",
            path.display()
        ))
    })?;
    if !submitted.status.success() {
        return Err(Failure::work(format!("sbatch refused {}", path.display())));
    }
    let id = String::from_utf8_lossy(&submitted.stdout);
    let id = id.trim().split(';').next().unwrap_or_default().to_owned();
    chatter.say(format!(
        "job {id} has {shards} tasks, one per shard; when it is done, this command adds missing runs and writes the tables:\n  {command} --out {}",
        shell_word(&dir.to_string_lossy())
    ));
    Ok(())
}

/// The script of the job. A job that is killed with its node resumes, and executes only the missing runs.
fn script(command: &str, name: &str, shards: u16, dir: &Path) -> String {
    let (job, folder) = (shell_word(&file_name(name)), dir.to_string_lossy());
    let log = shell_word(&format!("{folder}/slurm-%A_%a.log"));
    let out = shell_word(&folder);
    format!(
        "#!/bin/sh\n\
         #SBATCH --job-name={job}\n\
         #SBATCH --array=1-{shards}\n\
         #SBATCH --requeue\n\
         #SBATCH --open-mode=append\n\
         #SBATCH --output={log}\n\
         exec {command} --out {out} --shard \"$SLURM_ARRAY_TASK_ID/{shards}\" --jobs \"${{SLURM_CPUS_PER_TASK:-1}}\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_of_the_job_is_a_shard_of_the_same_sweep() {
        let text =
            script("windlass sweep 'a b.toml' --seeds 5", "a b", 8, Path::new("/data/my sweep"));
        for part in [
            "#SBATCH --array=1-8\n",
            "#SBATCH --requeue\n",
            "#SBATCH --output='/data/my sweep/slurm-%A_%a.log'\n",
            "exec windlass sweep 'a b.toml' --seeds 5 --out '/data/my sweep' --shard \"$SLURM_ARRAY_TASK_ID/8\"",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
