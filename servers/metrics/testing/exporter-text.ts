/**
 * Returns the shortened answer of a node-exporter of a small machine; the figures are those of a real one.
 */
export function exporterText(
  more: { idle?: number; user?: number; available?: number; celsius?: number; free?: number } = {},
): string {
  const { idle = 700, user = 100, available = 12e9, celsius = 47, free = 150e9 } = more
  return `# HELP node_cpu_seconds_total Seconds the CPUs spent in each mode.
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} ${idle}
node_cpu_seconds_total{cpu="0",mode="iowait"} 100
node_cpu_seconds_total{cpu="0",mode="user"} ${user}
node_cpu_seconds_total{cpu="1",mode="idle"} ${idle}
node_cpu_seconds_total{cpu="1",mode="iowait"} 100
node_cpu_seconds_total{cpu="1",mode="user"} ${user}
node_cpu_guest_seconds_total{cpu="0",mode="user"} 5
node_cpu_info{cpu="0",model_name="Intel(R) N100"} 1
node_memory_MemTotal_bytes 1.6e+10
node_memory_MemAvailable_bytes ${available}
node_memory_SwapTotal_bytes 2e+09
node_memory_SwapFree_bytes 1.5e+09
node_load1 0.52
node_load5 0.58
node_load15 0.59
node_filesystem_size_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} 2.5e+11
node_filesystem_free_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} ${free}
node_filesystem_avail_bytes{device="/dev/sda1",fstype="ext4",mountpoint="/"} ${free}
node_filesystem_files{device="/dev/sda1",fstype="ext4",mountpoint="/"} 1000
node_filesystem_files_free{device="/dev/sda1",fstype="ext4",mountpoint="/"} 900
node_filesystem_readonly{device="/dev/sda1",fstype="ext4",mountpoint="/"} 0
node_filesystem_device_error{device="/dev/sda1",fstype="ext4",mountpoint="/"} 0
node_filesystem_size_bytes{device="tmpfs",fstype="tmpfs",mountpoint="/run"} 1e+09
node_filesystem_free_bytes{device="tmpfs",fstype="tmpfs",mountpoint="/run"} 1e+09
node_filesystem_avail_bytes{device="tmpfs",fstype="tmpfs",mountpoint="/run"} 1e+09
node_filesystem_device_error{device="nas:/media",fstype="nfs4",mountpoint="/mnt/media"} 1
node_hwmon_chip_names{chip="platform_coretemp_0",chip_name="coretemp"} 1
node_hwmon_sensor_label{chip="platform_coretemp_0",label="Package id 0",sensor="temp1"} 1
node_hwmon_temp_celsius{chip="platform_coretemp_0",sensor="temp1"} ${celsius}
node_hwmon_temp_celsius{chip="platform_coretemp_0",sensor="temp9"} NaN
node_hwmon_temp_crit_celsius{chip="platform_coretemp_0",sensor="temp1"} 105
node_network_receive_bytes_total{device="eth0"} 1000
node_network_receive_bytes_total{device="lo"} 5
node_network_receive_bytes_total{device="veth12ab"} 5
node_network_transmit_bytes_total{device="eth0"} 2000
node_os_info{id="debian",pretty_name="Debian GNU/Linux 12 (bookworm)"} 1
node_uname_info{domainname="(none)",machine="x86_64",nodename="attic",release="6.1.0-25-amd64",sysname="Linux"} 1
node_boot_time_seconds 1.7e+09
node_time_seconds 1.7000072e+09
node_exporter_build_info{branch="debian/sid",goversion="go1.19.8",version="1.5.0"} 1
`
}
